#compdef trifold
# zsh completion of trifold
_trifold() {
	local context state state_descr line behind
	typeset -A opt_args
	local -a subcommands=(
		'run:profile this machine until Ctrl-C'
		'record:record a profile of this machine, or a part of it, into a file'
		'top:show live what runs, in the terminal'
		'status:show health and sample counts of the running trifold'
		'doctor:show what this kernel and host support'
		'check-config:check the configuration file'
		'table:show the unwind rules of a file'
		'names:show the functions at addresses of a file'
		'diff:compare two recordings, by function or by line'
		'convert:write a recording in another format'
		'snapshot:write what the unwinder reads of a process, for a report'
		'completion:print the completion script of a shell'
	)
	behind=${words[(ie)--]}
	if (( behind < CURRENT )); then
		shift $behind words
		(( CURRENT -= behind ))
		_normal
		return
	fi
	_arguments -C \
		'(- *)--help[show the commands]' \
		'(- *)--version[show the version]' \
		'1:command:->command' '*::argument:->argument' && return
	if [[ $state == command ]]; then
		_describe -t commands command subcommands
		return
	fi
	local duration='--duration=[stop after S seconds]:S:'
	local include_self='--include-self[samples of trifold itself, too]'
	local show_loops='--show-loops[the frames of interpreter loops, too]'
	local frequency='--frequency=[samples per second and CPU]:HZ:'
	local rate='--rate=[the same as --frequency]:HZ:'
	local names='--names=[names of functions]:NAMES:(short full raw)'
	local lines='--lines[folded stacks: the line of each frame, too]'
	local inlined='--inlined[folded stacks: mark calls that were inlined]'
	local no_placeholders='--no-placeholders[otlp and pprof: no functions for code without a name]'
	local help='--help[show the options]'
	local json='--json[JSON, an object on a line]'
	local output='--output=[write this file]:FILE:_files'
	local verbose='--verbose[more log output]'
	case $words[1] in
	run)
		_arguments $duration $output $frequency $rate $verbose $help \
			'--interval=[seconds between batches]:S:' \
			'--endpoint=[send OTLP profiles to this receiver]:URL:' \
			'--listen=[port of the live page]:PORT:' \
			'--no-page[no live page]' \
			$include_self \
			$show_loops \
			'--config=[read this configuration]:FILE:_files'
		;;
	record)
		_arguments $duration $output $frequency $rate $verbose $help \
			'--format=[write this format]:FORMAT:(html folded pprof otlp speedscope firefox)' \
			'--pid=[only this process]:PID:' \
			'--name=[only the processes of this name]:PROCESS:' \
			'--unit=[only this unit of systemd]:UNIT:' \
			'--cgroup=[only what runs in this cgroup or below it]:PATH:' \
			'--container=[only the container of this name, or whose ID begins so]:NAME:' \
			'--all[the whole system while COMMAND runs]' \
			$names $lines $inlined $no_placeholders \
			$include_self \
			$show_loops \
			'*:end of options:(--)'
		;;
	top)
		_arguments $duration $frequency $rate $json $help \
			'--view=[what the lines are about]:VIEW:(functions processes containers threads lines)' \
			'--once[print one table and exit]' \
			$names \
			$include_self \
			$show_loops \
			'--limit=[number of lines]:N:'
		;;
	status | doctor)
		_arguments $json $help
		;;
	check-config)
		_arguments $help \
			'--effective[show each value in effect and where it comes from]' \
			'--defaults[print a file with every key]' \
			'1:file:_files'
		;;
	table)
		_arguments $help \
			'--at=[only the rules at these addresses]:ADDRESS...:' \
			'1:file:_files'
		;;
	names)
		_arguments $help \
			'--debug=[its debug file]:FILE:_files' \
			'--mangled[names as the file has them]' \
			'1:file:_files'
		;;
	diff)
		_arguments $output $json $names $help \
			'--by=[what is compared]:WHAT:(function line)' \
			'--limit=[number of functions shown]:N:' \
			'--total[order by the difference of total, not of self]' \
			'1:file:_files' '2:file:_files'
		;;
	convert)
		_arguments $frequency $rate $names $lines $inlined $no_placeholders $help \
			'--format=[write this format]:FORMAT:(html folded pprof otlp speedscope firefox)' \
			'1:file:_files' '2:file:_files'
		;;
	snapshot)
		_arguments $output $help \
			'--root=[where the files of a core are]:DIR:' \
			'--yes[write it without asking]' \
			'1:PID or core file:_files'
		;;
	completion)
		_arguments $help '1:shell:(bash zsh fish)'
		;;
	esac
}
if [[ $funcstack[1] == _trifold ]]; then
	_trifold "$@"
else
	compdef _trifold trifold
fi
