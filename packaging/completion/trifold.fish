# fish completion of trifold
function __trifold_words
	commandline -opc
end
function __trifold_first
	test (count (__trifold_words)) -eq 1
end
# one of these commands, before "--"
function __trifold_in
	set -l w (__trifold_words)
	test (count $w) -ge 2; and contains -- $w[2] $argv
	and not contains -- -- $w
end
function __trifold_behind
	contains -- -- (__trifold_words)
end
function __trifold_command
	set -l w (__trifold_words)
	set -l last (commandline -ct)
	set -e w[1..(contains -i -- -- $w)]
	complete -C (string join ' ' -- (string escape -- $w) "$last")
end
complete -c trifold -f
complete -c trifold -n __trifold_behind -a '(__trifold_command)'
complete -c trifold -n __trifold_first -l help -d 'show the commands'
complete -c trifold -n __trifold_first -l version -d 'show the version'
complete -c trifold -n __trifold_first -a run -d 'profile this machine until Ctrl-C'
complete -c trifold -n __trifold_first -a record -d 'record a profile into a file'
complete -c trifold -n __trifold_first -a top -d 'show live what runs, in the terminal'
complete -c trifold -n __trifold_first -a status -d 'show health and sample counts of the running trifold'
complete -c trifold -n __trifold_first -a doctor -d 'show what this kernel and host support'
complete -c trifold -n __trifold_first -a check-config -d 'check the configuration file'
complete -c trifold -n __trifold_first -a table -d 'show the unwind rules of a file'
complete -c trifold -n __trifold_first -a names -d 'show the functions at addresses of a file'
complete -c trifold -n __trifold_first -a diff -d 'compare two recordings'
complete -c trifold -n __trifold_first -a convert -d 'write a recording in another format'
complete -c trifold -n __trifold_first -a snapshot -d 'write what the unwinder reads of a process'
complete -c trifold -n __trifold_first -a completion -d 'print the completion script of a shell'
# words
complete -c trifold -n '__trifold_in check-config table names diff convert snapshot' -F
complete -c trifold -n '__trifold_in completion' -a 'bash zsh fish'
# options of several commands
complete -c trifold -n '__trifold_in run record top status doctor check-config table names diff convert snapshot completion' -l help -d 'show the options'
complete -c trifold -n '__trifold_in run record top' -l duration -x -d 'stop after S seconds'
complete -c trifold -n '__trifold_in run record top convert' -l frequency -x -d 'samples per second and CPU'
complete -c trifold -n '__trifold_in run record top convert' -l rate -x -d 'the same as --frequency'
complete -c trifold -n '__trifold_in run record diff snapshot' -l output -r -F -d 'write this file'
complete -c trifold -n '__trifold_in run record' -l verbose -d 'more log output'
complete -c trifold -n '__trifold_in status doctor diff top' -l json -d 'JSON, an object on a line'
complete -c trifold -n '__trifold_in top diff' -l limit -x -d 'number of lines shown'
complete -c trifold -n '__trifold_in record top diff convert' -l names -x -a 'short full raw' -d 'names of functions'
complete -c trifold -n '__trifold_in record convert' -l lines -d 'folded stacks: the line of each frame, too'
complete -c trifold -n '__trifold_in record convert' -l inlined -d 'folded stacks: mark calls that were inlined'
complete -c trifold -n '__trifold_in record convert' -l no-placeholders -d 'otlp and pprof: no functions for code without a name'
# options of one
complete -c trifold -n '__trifold_in run' -l interval -x -d 'seconds between batches'
complete -c trifold -n '__trifold_in run' -l endpoint -x -d 'send OTLP profiles to this receiver'
complete -c trifold -n '__trifold_in run' -l listen -x -d 'port of the live page'
complete -c trifold -n '__trifold_in snapshot' -l root -x -d 'where the files of a core are'
complete -c trifold -n '__trifold_in snapshot' -l yes -d 'write it without asking'
complete -c trifold -n '__trifold_in run' -l no-page -d 'no live page'
complete -c trifold -n '__trifold_in run record top' -l include-self -d 'samples of trifold itself, too'
complete -c trifold -n '__trifold_in run record top' -l show-loops -d 'the frames of interpreter loops, too'
complete -c trifold -n '__trifold_in run' -l config -r -F -d 'read this configuration'
complete -c trifold -n '__trifold_in record convert' -l format -x -a 'html folded pprof otlp speedscope firefox' -d 'write this format'
complete -c trifold -n '__trifold_in record' -l pid -x -d 'only this process'
complete -c trifold -n '__trifold_in record' -l name -x -d 'only the processes of this name'
complete -c trifold -n '__trifold_in record' -l unit -x -d 'only this unit of systemd'
complete -c trifold -n '__trifold_in record' -l cgroup -x -d 'only what runs in this cgroup or below it'
complete -c trifold -n '__trifold_in record' -l container -x -d 'only the container of this name, or whose ID begins so'
complete -c trifold -n '__trifold_in record' -l all -d 'the whole system while COMMAND runs'
complete -c trifold -n '__trifold_in top' -l view -x -a 'functions processes containers threads lines' -d 'what the lines are about'
complete -c trifold -n '__trifold_in top' -l once -d 'print one table and exit'
complete -c trifold -n '__trifold_in check-config' -l effective -d 'show each value in effect'
complete -c trifold -n '__trifold_in check-config' -l defaults -d 'print a file with every key'
complete -c trifold -n '__trifold_in table' -l at -x -d 'only the rules at these addresses'
complete -c trifold -n '__trifold_in names' -l debug -r -F -d 'its debug file'
complete -c trifold -n '__trifold_in names' -l mangled -d 'names as the file has them'
complete -c trifold -n '__trifold_in diff' -l by -x -a 'function line' -d 'what is compared'
complete -c trifold -n '__trifold_in diff' -l total -d 'order by the difference of total'
