# bash completion of trifold
_trifold_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_trifold_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

# a command and its words, from word $1 on
_trifold_command()
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif ((COMP_CWORD == $1)); then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		_trifold_files
	fi
}

_trifold()
{
	local cmd=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]}
	local prev=${COMP_WORDS[COMP_CWORD-1]} i

	COMPREPLY=()
	# --name=value comes as three words
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]] && ((COMP_CWORD > 2)); then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if ((COMP_CWORD == 1)); then
		_trifold_words 'run record top status doctor check-config table names diff convert snapshot completion --help --version'
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			_trifold_command $((i + 1))
			return
		fi
	done
	# values of options
	case $prev in
	--output | --config | --debug)
		_trifold_files
		return ;;
	--format)
		_trifold_words 'html folded pprof otlp speedscope firefox'
		return ;;
	--view)
		_trifold_words 'functions processes containers threads lines'
		return ;;
	--names)
		_trifold_words 'short full raw'
		return ;;
	--by)
		_trifold_words 'function line'
		return ;;
	--at | --cgroup | --container | --duration | --endpoint | --frequency | --rate | \
	--interval | --limit | --listen | --name | --pid | --root | --unit)
		return ;;
	esac
	# options and words of commands
	case "$cmd $cur" in
	'run '*) _trifold_words '--duration --output --frequency --rate --interval --endpoint --listen --no-page --include-self --show-loops --config --verbose --help' ;;
	'record '*) _trifold_words '--duration --output --format --frequency --rate --pid --name --unit --cgroup --container --all --names --lines --inlined --no-placeholders --include-self --show-loops --verbose --help --' ;;
	'top '*) _trifold_words '--view --once --json --limit --duration --frequency --rate --names --include-self --show-loops --help' ;;
	'status '*) _trifold_words '--json --help' ;;
	'doctor '*) _trifold_words '--json --help' ;;
	'check-config -'*) _trifold_words '--effective --defaults --help' ;;
	'table -'*) _trifold_words '--at --help' ;;
	'names -'*) _trifold_words '--debug --mangled --help' ;;
	'diff -'*) _trifold_words '--limit --total --output --by --names --json --help' ;;
	'convert -'*) _trifold_words '--format --frequency --rate --names --lines --inlined --no-placeholders --help' ;;
	'snapshot -'*) _trifold_words '--output --root --yes --help' ;;
	'completion -'*) _trifold_words '--help' ;;
	'completion '*) _trifold_words 'bash zsh fish' ;;
	'check-config '* | 'table '* | 'names '* | 'diff '* | 'convert '* | 'snapshot '*) _trifold_files ;;
	esac
}
complete -F _trifold trifold
