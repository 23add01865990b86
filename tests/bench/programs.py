#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real programs: the share of stacks that reach a true root, and why the others do not.

usage: programs.py [--seconds N] [--frequency HZ] [NAME...]      (root; build/bin)
       programs.py --packages       what Debian packages it needs; it installs nothing

Records each program of PROGRAMS with a load of its own, and prints a row of a Markdown table for
each: samples of that program, the share of those with a user stack whose outermost frame is a
root (and how many of these by guessed callers), and how the rest ended.  A root is judged by its function, not by what trifold says of the
stack's end: the entry of the program or of a thread, in the file that starts it.  Where a file is
stripped, its entry point (readelf -h) tells which function that is; libc's names come with
libc6-dbg.  A program whose tools are missing is said to be.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TRIFOLD = os.path.join(ROOT, "build", "bin", "trifold")

# The entry of a program; of a thread, by glibc and Go (a system stack of Go's ends in mstart, or
# for good in mcall and morestack); of a context.
ROOTS = re.compile(r"_start|_dl_start_user|_rt0_\w+|__?clone3?|clone3?|start_thread|thread_start|"
                   r"runtime\.(goexit|mstart|mstart0|rt0_go|mcall|morestack)(\.abi0)?|"
                   r"__start_context")
KERNEL = "_[k]"
GUESS = "[caller guessed]"
NAMELESS = re.compile(r"(.+)[!+]0x([0-9a-f]+)")
START_BYTES = 64        # of _start, at most
STOP = re.compile(r"\[stack ends: (\w+)\]|\[(\w[\w ]*)\]")

PREPARE = """set -e; cd "$W"
"""

# name: (packages, its executables, what to prepare, what to run for $S seconds)
PROGRAMS = {
    "sqlite3": ("sqlite3", ["sqlite3"], "", """
        timeout $S sqlite3 :memory: "create table t(a, b); with recursive c(x) as (values(1) union all
        select x+1 from c where x<300000) insert into t select x, hex(randomblob(8)) from c;
        with recursive c(x) as (values(1) union all select x+1 from c where x < 100)
        select count(*), max(t.b) from c, t where t.b like '%A' || c.x || '%' group by c.x;" """),
    "postgres": ("postgresql", ["postgres"], """
        B=$(echo /usr/lib/postgresql/*/bin); chown nobody "$W"
        setpriv --reuid nobody --clear-groups $B/initdb -D "$W/pg" -A trust
        """, """
        B=$(echo /usr/lib/postgresql/*/bin)
        setpriv --reuid nobody --clear-groups $B/postgres -D "$W/pg" -k "$W" -h '' & P=$!
        until $B/psql -h "$W" -U nobody postgres -c 'select 1'; do sleep 0.1; done
        $B/pgbench -h "$W" -U nobody -i -s 2 -q postgres
        $B/pgbench -h "$W" -U nobody -c 4 -T $S postgres; kill -INT $P; wait $P"""),
    "mariadbd": ("mariadb-server", ["mariadbd"], """
        mkdir my; chown nobody my .
        mariadb-install-db --no-defaults --datadir="$W/my" --user=nobody --auth-root-authentication-method=normal
        """, """
        mariadbd --no-defaults --datadir="$W/my" --user=nobody --socket="$W/s" --skip-networking & P=$!
        until mariadb-admin -S "$W/s" ping; do sleep 0.1; done
        timeout $S mariadb-slap -S "$W/s" --auto-generate-sql --auto-generate-sql-load-type=mixed \\
            --concurrency=4 --iterations=100; kill $P; wait $P"""),
    "redis-server": ("redis-server redis-tools", ["redis-server", "redis-check-rdb"], "", """
        redis-server --port 0 --unixsocket "$W/s" --save '' & P=$!; sleep 0.5
        timeout $S redis-benchmark -s "$W/s" -l -q -t set,get,lpush,zadd; kill $P; wait $P"""),
    "memcached": ("memcached python3", ["memcached"], "", """
        memcached -u nobody -s "$W/s" -a 0777 -t 2 & P=$!; sleep 0.5
        timeout $S python3 -c "
import socket
s = socket.socket(socket.AF_UNIX); s.connect('$W/s'); f = s.makefile('rb')
while True:
    s.sendall(b''.join(b'set k%d 0 0 20\\r\\n01234567890123456789\\r\\nget k%d\\r\\n' % (i, i) for i in range(200)))
    for i in range(800): f.readline()
"; kill $P; wait $P"""),
    "nginx": ("nginx-light apache2-utils", ["nginx"], """
        head -c 20000 /dev/zero | base64 >index.html; chmod 755 .
        echo "daemon off; error_log stderr; pid $W/pid; events {} http { access_log off; gzip on;
        gzip_types text/html; server { listen 127.0.0.1:8971; root $W; } }" >conf
        """, """
        nginx -c "$W/conf" & P=$!; sleep 0.5
        ab -q -H 'Accept-Encoding: gzip' -t $S -n 10000000 -c 8 http://127.0.0.1:8971/index.html; kill $P; wait $P"""),
    "apache2": ("apache2 apache2-utils", ["apache2"], """
        head -c 20000 /dev/zero | base64 >index.html; chmod 755 .
        M=/usr/lib/apache2/modules
        echo "ServerRoot $W
        PidFile $W/pid
        Listen 127.0.0.1:8972
        ServerName x
        ErrorLog $W/log
        LoadModule mpm_event_module $M/mod_mpm_event.so
        LoadModule authz_core_module $M/mod_authz_core.so
        LoadModule deflate_module $M/mod_deflate.so
        LoadModule filter_module $M/mod_filter.so
        DocumentRoot $W
        SetOutputFilter DEFLATE" >conf
        """, """
        apache2 -X -f "$W/conf" & P=$!; sleep 0.5
        ab -q -H 'Accept-Encoding: gzip' -t $S -n 10000000 -c 8 http://127.0.0.1:8972/index.html; kill $P; wait $P"""),
    "lighttpd": ("lighttpd apache2-utils", ["lighttpd"], """
        head -c 20000 /dev/zero | base64 >index.html; chmod 755 .
        echo "server.document-root = \\"$W\\"
        server.bind = \\"127.0.0.1\\"
        server.port = 8973" >conf
        """, """
        lighttpd -D -f "$W/conf" & P=$!; sleep 0.5
        ab -q -t $S -n 10000000 -c 8 http://127.0.0.1:8973/index.html; kill $P; wait $P"""),
    "haproxy": ("haproxy apache2-utils", ["haproxy"], """
        printf 'defaults\\n mode http\\n timeout client 5s\\n timeout connect 5s\\n timeout server 5s\\n' >conf
        printf 'frontend f\\n bind 127.0.0.1:8974\\n http-request return status 200 content-type text/plain string hello\\n' >>conf
        """, """
        haproxy -db -f "$W/conf" & P=$!; sleep 0.5
        ab -q -t $S -n 10000000 -c 8 http://127.0.0.1:8974/; kill $P; wait $P"""),
    "sshd": ("openssh-server openssh-client", ["sshd"], """
        ssh-keygen -q -t ed25519 -N '' -f host; ssh-keygen -q -t ed25519 -N '' -f user; cp user.pub auth
        """, """
        mkdir -p /run/sshd
        /usr/sbin/sshd -D -p 8975 -o ListenAddress=127.0.0.1 -h "$W/host" -o AuthorizedKeysFile="$W/auth" \\
            -o StrictModes=no -o PidFile=none & P=$!; sleep 0.5
        timeout $S ssh -p 8975 -i "$W/user" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \\
            -o IdentitiesOnly=yes root@127.0.0.1 cat /dev/zero >/dev/null; kill $P; wait $P"""),
    "gcc (cc1)": ("gcc", ["cc1"], """
        { echo '#include <stdio.h>'; i=0; while [ $i -lt 3000 ]; do
        echo "int f$i(int *p, int n) { int s = $i; for (int j = 0; j < n; j++) { s += p[j] * (s ^ $i); if (s > $i) s -= p[n - j]; } return s; }"
        i=$((i + 1)); done; } >x.c""", "timeout $S sh -c 'while :; do gcc -O2 -c -o x.o x.c; done'"),
    "clang": ("clang", ["clang"], """
        i=0; while [ $i -lt 3000 ]; do
        echo "int f$i(int *p, int n) { int s = $i; for (int j = 0; j < n; j++) { s += p[j] * (s ^ $i); if (s > $i) s -= p[n - j]; } return s; }"
        i=$((i + 1)); done >x.c""", "timeout $S sh -c 'while :; do clang -O2 -c -o x.o x.c; done'"),
    "rustc": ("rustc", ["rustc"], """
        { i=0; while [ $i -lt 600 ]; do
        echo "pub fn f$i(v: &[u64]) -> Vec<String> { let mut w: Vec<_> = v.iter().map(|x| x.wrapping_mul($i)).filter(|x| x % 3 == 0).collect(); w.sort(); w.iter().map(|x| format!(\\"{x}\\")).collect() }"
        i=$((i + 1)); done; } >x.rs""", "timeout $S sh -c 'while :; do rustc -O --crate-type lib -o x.rlib x.rs; done'"),
    "go build": ("golang-go", ["compile", "link", "go"], """
        printf 'package main\\nimport "net/http"\\nfunc main() { http.ListenAndServe("", nil) }\\n' >x.go""",
                 "HOME=$W GOCACHE=$W/cache timeout $S go build -a -o x x.go"),
    "ghc": ("ghc", ["ghc"], """
        { echo 'module X where'; echo 'import Data.List'; i=0; while [ $i -lt 400 ]; do
        echo "f$i :: [Int] -> String"; echo "f$i xs = show (foldl' (+) $i (map (* $i) (sort xs))) ++ concatMap show (nub xs)"
        i=$((i + 1)); done; } >X.hs""", "timeout $S sh -c 'while :; do ghc -O -fforce-recomp -c X.hs; done'"),
    "ocamlopt": ("ocaml-nox", ["ocamlopt.opt", "ocamlopt"], """
        { i=0; while [ $i -lt 3000 ]; do
        echo "let f$i l = List.fold_left (fun a x -> if x > $i then a + x else a * 2) $i (List.map (fun x -> x * x) l)"
        i=$((i + 1)); done; } >x.ml""", "timeout $S sh -c 'while :; do ocamlopt -c x.ml; done'"),
    "python3": ("python3", ["python3"], "", """
        timeout $S python3 -c 'import re, json
while True: json.loads(json.dumps({str(i): [i] for i in range(999)})); sorted(range(999), key=lambda x: -x)' """),
    "perl": ("perl", ["perl"], "", """
        timeout $S perl -e 'while (1) { my %h = map { $_ => "a$_" } 1 .. 500; my @k = sort { $h{$a} cmp $h{$b} } keys %h;
        join(" ", @k) =~ s/(\\d+)/<$1>/gr; }' """),
    "ruby": ("ruby", ["ruby"], "", """
        timeout $S ruby -e 'loop { h = (1..500).to_h { |i| [i.to_s, "a#{i}"] }; h.sort_by { |k, v| v }.map { |k, v| v.gsub(/\\d/) { |d| "<#{d}>" } }.join }' """),
    "php": ("php-cli", ["php"], "", """
        timeout $S php -r 'while (true) { $a = []; for ($i = 0; $i < 999; $i++) $a["k$i"] = md5($i); asort($a);
        preg_replace_callback("/[0-9]+/", fn($m) => "<$m[0]>", implode(" ", $a)); }' """),
    "lua5.4": ("lua5.4", ["lua5.4"], "", """
        timeout $S lua5.4 -e 'while true do local t = {} for i = 1, 999 do t[i] = tostring(i * 7 % 997) end table.sort(t)
        table.concat(t, " "):gsub("%d+", function(d) return "<" .. d .. ">" end) end' """),
    "luajit": ("luajit", ["luajit"], "", """
        timeout $S luajit -e 'while true do local t = {} for i = 1, 999 do t[i] = tostring(i * 7 % 997) end table.sort(t)
        local s = 0 for i = 1, 1e6 do s = s + i % 7 end end' """),
    "erlang": ("erlang-base", ["beam.smp"], "", """
        timeout $S erl -noshell -eval 'F = fun(G) -> lists:sort([erlang:phash2(X) || X <- lists:seq(1, 9999)]), G(G) end, F(F).' """),
    "guile": ("guile-3.0", ["guile"], "", """
        timeout $S guile -c '(let loop () (sort (map (lambda (i) (modulo (* i 7919) 997)) (iota 9999)) <) (string-append (number->string 7) "x") (loop))' """),
    "sbcl": ("sbcl", ["sbcl"], "", """
        timeout $S sbcl --noinform --eval '(loop (sort (loop for i below 9999 collect (mod (* i 7919) 997)) (function <)) (format nil "~a" 7))' """),
    "R": ("r-base-core", ["R"], "", """
        timeout $S R --vanilla -s -e 'repeat { x <- rnorm(1e4); y <- sort(x); m <- lm(x ~ y); paste(x, collapse=" ") }' """),
    "octave": ("octave", ["octave-cli"], "", """
        timeout $S octave-cli --norc --eval 'while true, x = rand(200); y = sort(x); z = x * y; for i=1:999, s = sprintf("%d", i); end, end' """),
    "node": ("nodejs", ["node"], "", """
        timeout $S node -e 'for (;;) { const o = {}; for (let i = 0; i < 999; i++) o["k" + i] = [i]; JSON.parse(JSON.stringify(o)); Object.keys(o).sort().join(" ").replace(/\\d+/g, d => "<" + d + ">") }' """),
    "java (javac)": ("default-jdk-headless", ["java", "javac"], """
        { echo 'class X {'; i=0; while [ $i -lt 1500 ]; do echo "static String f$i(java.util.List<Integer> l) { return l.stream().filter(x -> x > $i).map(x -> x * 2).sorted().toString(); }"; i=$((i + 1)); done; echo '}'; } >X.java""",
                     "timeout $S sh -c 'while :; do javac -d . X.java; done'"),
    "mono (mcs)": ("mono-mcs mono-runtime", ["mono-sgen", "mono"], """
        { echo 'using System.Linq; class X {'; i=0; while [ $i -lt 1500 ]; do echo "static string f$i(int[] l) { return string.Join(\\" \\", l.Where(x => x > $i).Select(x => x * 2).OrderBy(x => x)); }"; i=$((i + 1)); done; echo 'static void Main() {} }'; } >X.cs""",
                   "timeout $S sh -c 'while :; do mcs X.cs; done'"),
    "swipl": ("swi-prolog-nox", ["swipl"], "", """
        timeout $S swipl -g 'repeat, numlist(1, 9999, L), foldl([X,A,B]>>(B is A+X mod 7), L, 0, _), msort(L, _), fail' """),
    "tclsh": ("tcl", ["tclsh8.6", "tclsh"], "", """
        echo 'while 1 { set l {}; for {set i 0} {$i < 999} {incr i} { lappend l [expr {$i * 7 % 997}] }; lsort -integer $l; regsub -all {[0-9]+} $l {<\\0>} }' >x.tcl; timeout $S tclsh x.tcl"""),
    "fpc": ("fpc", ["ppcx64"], """
        { echo 'unit x; interface implementation'; i=0; while [ $i -lt 3000 ]; do echo "function f$i(n: longint): longint; var j, s: longint; begin s := $i; for j := 1 to n do if s > j then s := s - j * n else s := s + j; f$i := s; end;"; i=$((i + 1)); done; echo 'end.'; } >x.pas""",
            "timeout $S sh -c 'while :; do fpc -O2 x.pas; done'"),
    "ffmpeg": ("ffmpeg", ["ffmpeg"], "", """
        timeout $S ffmpeg -loglevel error -f lavfi -i testsrc2=size=640x360 -c:v libx264 -f null -"""),
    "imagemagick": ("imagemagick", ["convert-im6.q16", "convert"], "", """
        timeout $S sh -c 'while :; do convert plasma: -resize 1200x800 -blur 0x4 -colorspace Lab x.png; done'"""),
    "gzip": ("gzip", ["gzip"], "", "timeout $S gzip -9 -c /usr/bin/node >/dev/null; timeout 4 gzip -c </dev/urandom >/dev/null"),
    "zstd": ("zstd", ["zstd"], "", "timeout $S zstd -19 -T2 -c /usr/bin/node >/dev/null"),
    "xz": ("xz-utils", ["xz"], "", "timeout $S xz -9 -c /usr/bin/node >/dev/null"),
    "git": ("git", ["git"], """
        git init -q r; cd r; i=0; while [ $i -lt 20 ]; do seq $i 20000 >f; git add f; git -c user.name=x -c user.email=x commit -qm $i; i=$((i + 1)); done""",
            "cd r; timeout $S sh -c 'while :; do git log -p >/dev/null; git repack -adfq; git fsck >/dev/null; done'"),
    "openssl": ("openssl", ["openssl"], "", "timeout $S sh -c 'while :; do openssl speed -seconds 1 rsa2048 sha256 aes-128-gcm ecdsap256; done'"),
    "qemu": ("qemu-system-x86", ["qemu-system-x86_64"], "", "timeout $S qemu-system-x86_64 -accel tcg -display none -nodefaults -serial null -m 128 -boot n -nic user"),
    "gdb": ("gdb", ["gdb"], "", "timeout $S sh -c 'while :; do gdb -batch -ex \"info functions str\" -ex \"disassemble main\" /usr/bin/gdb /dev/null >/dev/null; done'"),
    "chromium": ("chromium", ["chromium"], """
        echo '<canvas id=c></canvas><script>let n=0;function f(){let d=document.createElement("p");d.textContent="x"+(n++);document.body.append(d);if(n>300)document.body.children[1].remove();document.getElementById("c").getContext("2d").fillRect(n%99,n%77,9,9);let o={};for(let i=0;i<9999;i++)o["k"+i]=i;setTimeout(f,1)}f()</script>' >x.html""",
                 "timeout $S chromium --headless=new --no-sandbox --disable-gpu --user-data-dir=$W/p --remote-debugging-pipe file://$W/x.html 3</dev/zero 4>/dev/null"),
    "firefox": ("firefox-esr", ["firefox-esr", "firefox-bin"], """
        echo '<script>let n=0;function f(){let d=document.createElement("p");d.textContent="x"+(n++);document.body.append(d);if(n>300)document.body.children[1].remove();let o={};for(let i=0;i<9999;i++)o["k"+i]=i;setTimeout(f,1)}f()</script>' >x.html""",
                "HOME=$W timeout $S firefox-esr --headless --no-remote --profile $W file://$W/x.html"),
    "emacs": ("emacs-nox", ["emacs-nox", "emacs"], "", """
        timeout $S emacs --batch --eval '(while t (with-temp-buffer (dotimes (i 999) (insert (format "%d x\\n" (* i 7)))) (goto-char 1) (while (re-search-forward "[0-9]+" nil t) (replace-match "<\\\\&>")) (sort-lines nil 1 (point-max))))' """),
    "vim": ("vim", ["vim.basic", "vim"], "seq 1 20000 >x", """
        timeout $S sh -c 'while :; do vim -es -u NONE -c "%s/[0-9]/<&>/g" -c "sort! n" -c "g/7/normal Ax" -c "qa!" x; done'"""),
    "latex": ("texlive-latex-base", ["pdftex", "pdflatex"], """
        { echo '\\documentclass{article}\\begin{document}'; i=0; while [ $i -lt 400 ]; do echo 'Some words and $\\sum_{i=0}^n x^i$ more of them, which are to be broken into lines.\\par'; i=$((i + 1)); done; echo '\\end{document}'; } >x.tex""",
              "timeout $S sh -c 'while :; do pdflatex -interaction=batchmode x.tex; done'"),
    "tar": ("tar", ["tar"], "", "timeout $S sh -c 'while :; do tar cf - /usr/share/doc /usr/include | cat >/dev/null; done'"),
    "rsync": ("rsync", ["rsync"], "", "timeout $S sh -c 'while :; do rm -rf d; rsync -a --checksum /usr/include d; rsync -a --checksum /usr/include d; done'"),
    "make": ("make", ["make"], "{ i=0; while [ $i -lt 4000 ]; do echo \"t$i: $(seq -s ' ' -f t%g $((i + 1)) $((i + 4)) | head -c 60)\"; i=$((i + 1)); done; i=4000; while [ $i -lt 4004 ]; do echo \"t$i:\"; i=$((i + 1)); done; } >Makefile",
             "timeout $S sh -c 'while :; do make -n t0; done'"),
    "gawk": ("gawk", ["gawk"], "", """timeout $S gawk 'BEGIN { while (1) { for (i = 0; i < 999; i++) a[i] = i * 7 % 997 ""; n = asort(a); s = ""; for (i = 1; i <= n; i++) s = s a[i]; gsub(/[0-9]/, "<&>", s) } }' """),
    "dot": ("graphviz", ["dot"], """
        { echo 'digraph x {'; i=0; while [ $i -lt 300 ]; do echo "a$i -> a$((i * 7 % 131)); a$i -> a$((i * 3 % 97));"; i=$((i + 1)); done; echo '}'; } >x.dot""",
            "timeout $S sh -c 'while :; do dot -Tsvg -o x.svg x.dot; done'"),
    "cmake": ("cmake", ["cmake"], "{ echo 'cmake_minimum_required(VERSION 3.5)'; i=0; while [ $i -lt 9000 ]; do echo \"string(REGEX REPLACE \\\"[0-9]+\\\" \\\"<\\\\\\\\0>\\\" v$i \\\"a$i b\\\")\"; i=$((i + 1)); done; } >x.cmake",
              "timeout $S sh -c 'while :; do cmake -P x.cmake; done'"),
    "bash": ("bash", ["bash"], "", "timeout $S bash -c 'while :; do x=${x/b/a}ab; x=${x:0:50}; [[ $x =~ ^(a|b)+$ ]]; done'"),
}


def entries(paths):
    """{file's name: [entry points]} of these files: a stripped _start."""
    found = collections.defaultdict(list)
    for path in paths:
        r = subprocess.run(["readelf", "-hW", path], capture_output=True, text=True)
        m = re.search(r"Entry point address: +0x([0-9a-f]+)", r.stdout)
        if m:
            found[os.path.basename(path)].append(int(m[1], 16))
    return found


def is_root(frame, starts):
    m = NAMELESS.fullmatch(frame)
    if not m:
        return bool(ROOTS.fullmatch(frame))
    return any(0 <= int(m[2], 16) - at < START_BYTES for at in starts.get(m[1], []))


def folded(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            text, _, n = line.rstrip("\n").rpartition(" ")
            yield text.split(";"), int(n)


class Result:
    def __init__(self):
        self.samples = self.user = self.rooted = self.guessed = 0
        self.rest = collections.Counter()

    def add(self, frames, n, starts):
        """Frames root first, without the process."""
        self.samples += n
        user = [f for f in frames if not f.endswith(KERNEL)]
        if not user:
            return
        self.user += n
        if is_root(user[0], starts):
            self.rooted += n
            self.guessed += n * (GUESS in user)
            return
        m = STOP.match(user[0])
        self.rest[(m[1] or m[2]) if m else f"ends in {user[0]}"] += n


def row(name, result):
    rest = sum(result.rest.values())
    why = ", ".join(f"{k} {100 * v / result.user:.1f} %" for k, v in result.rest.most_common(3)
                    if v >= 0.0005 * result.user)
    share = f"{100 * result.rooted / result.user:.1f} %" if result.user else "-"
    if result.guessed:
        share += f" ({100 * result.guessed / result.user:.1f} % guessed)"
    assert rest + result.rooted == result.user
    return f"| {name} | {result.samples:,} | {share} | {why} |"


def measure(name, seconds, frequency):
    packages, executables, prepare, run = PROGRAMS[name]
    with tempfile.TemporaryDirectory(prefix="programs-") as tmp:
        os.chmod(tmp, 0o755)
        env = dict(os.environ, W=tmp, S=str(seconds), LC_ALL="C", HOME=tmp)
        env["PATH"] += ":/usr/sbin:/usr/games"
        with open(os.path.join(tmp, "said"), "w+", encoding="utf-8") as said:
            r = subprocess.run(["sh", "-c", PREPARE + prepare], env=env, stdout=said, stderr=said,
                               stdin=subprocess.DEVNULL)
            out = os.path.join(tmp, "out.folded")
            if r.returncode == 0:
                subprocess.run([TRIFOLD, "record", "--frequency", str(frequency), "--output", out, "--",
                                "sh", "-c", f'cd "{tmp}"\n{run}'], env=env, stdout=said, stderr=said,
                               stdin=subprocess.DEVNULL, timeout=seconds + 120)
            result, seen = Result(), collections.Counter()
            if os.path.exists(out):
                starts = entries(loaders() | files_of(executables))
                for frames, n in folded(out):
                    seen[process(frames[0])] += n
                    if process(frames[0]) in executables:
                        result.add(frames[1:], n, starts)
            if not result.samples:
                said.seek(0)
                print(f"# {name}: nothing was sampled of it ({packages}), but {seen.most_common(5)}\n# " +
                      said.read()[-600:].replace("\n", "\n# "), file=sys.stderr, flush=True)
    return result


def process(text):
    """The executable's name: of what a folded stack begins with."""
    return re.sub(r" \(.*| ?\[.*", "", text)


def loaders():
    return {os.path.realpath(p) for p in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
            if os.path.exists(p)}


def files_of(names):
    found = set()
    for name in names:
        path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/lib/git-core")
        if path:
            found.add(os.path.realpath(path))
    for name in names:
        r = subprocess.run(["find", "-L", "/usr/lib", "/usr/libexec", "-maxdepth", "6", "-name", name, "-type", "f"],
                           capture_output=True, text=True)
        found.update(r.stdout.split())
    return found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--seconds", type=int, default=6)
    p.add_argument("--frequency", type=int, default=199)
    p.add_argument("--packages", action="store_true")
    p.add_argument("name", nargs="*")
    a = p.parse_args()
    if a.packages:
        print("libc6-dbg binutils", *sorted({w for v in PROGRAMS.values() for w in v[0].split()}))
        return
    unknown = set(a.name) - set(PROGRAMS)
    if unknown:
        p.error(f"no such program: {', '.join(unknown)}; there are: {', '.join(PROGRAMS)}")
    print("| program | samples | to a root | the rest |\n|---|---|---|---|", flush=True)
    everything = Result()
    for name in a.name or PROGRAMS:
        result = measure(name, a.seconds, a.frequency)
        for k in ("samples", "user", "rooted", "guessed"):
            setattr(everything, k, getattr(everything, k) + getattr(result, k))
        everything.rest.update(result.rest)
        print(row(name, result), flush=True)
    print(row("all of them", everything), flush=True)


if __name__ == "__main__":
    main()
