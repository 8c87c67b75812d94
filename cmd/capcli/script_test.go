package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"capcli/cmd/shell"
	"capcli/testdata/golden"
)

// TestScript runs each transcript in testdata/script: the program as a user types it, its output and its exit
// code. To start a process takes as long as most commands, so that the commands run in this process, one after
// another, in the folder and with the environment of the script. What only a process can show has one: see
// runHere. With -update all have.
func TestScript(t *testing.T) {
	seen := &seenDocuments{ids: map[string]int{}}
	t.Cleanup(func() { seen.report(t) })
	logs, err := filepath.Abs(filepath.Join("..", "..", "testdata", "logs"))
	if err != nil {
		t.Fatal(err)
	}
	scripts := filepath.Join("..", "..", "testdata", "script")
	if !*update {
		scripts = runHere(t, scripts)
	}
	testscript.RunT(serial{t}, testscript.Params{
		Dir:                 scripts,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(s *testscript.Env) error {
			s.Setenv(tryNext, "1")
			s.Setenv("GORACE", "atexit_sleep_ms=0") // else each call under -race takes a second
			s.Setenv("GOGC", "100")                 // else a recording collects more often than other commands
			s.Setenv("LOGS", logs)
			err := seen.watch(s)
			s.Values[environment{}] = s.Vars
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run":      runCommand,
			"exits":    exits,
			"pack":     pack,
			"repeat":   repeat,
			"jsonline": jsonLine,
			"onlyfile": onlyFile,

			"openmetrics": openMetrics,
		},
	})
}

// environment is the key of the environment of a script among its values.
type environment struct{}

// serial runs scripts one after another.
type serial struct{ *testing.T }

func (serial) Parallel()     {}
func (serial) Verbose() bool { return testing.Verbose() }

func (t serial) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(serial{t}) })
}

// ownProcess matches the scripts whose commands need processes of their own: those that set variables.
var ownProcess = regexp.MustCompile(`(?m)^env `)

// longScripts take seconds each.
var longScripts = []string{"compare", "demo", "explain", "kinds", "plan-futures", "plan-mix-futures", "plan-shards", "profile-feed", "profile-heat", "profile-show", "profile-worth"}

// commandOfScript matches a command of a script: what is before it, its exit code if not 0, and its arguments.
var commandOfScript = regexp.MustCompile(`^((?:\[[^]]*\] )?(?:! )?)(?:exec|exits ([0-9]+)) capcli( .*)?$`)

// runHere copies scripts to a new folder, with `run CODE` where they have exec or exits and no process is needed:
// for the standard input, for a file that is a stream of the process, and for another program.
func runHere(t *testing.T, from string) (to string) {
	t.Helper()
	to = t.TempDir()
	files, err := filepath.Glob(filepath.Join(from, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		if slices.Contains(longScripts, strings.TrimSuffix(filepath.Base(file), ".txtar")) && golden.Short() && !asked(t) {
			continue
		}
		text := readAll(t, file)
		lines := strings.SplitAfter(string(text), "\n")
		process := ownProcess.Match(text)
		for i, line := range lines {
			if process || strings.HasPrefix(line, "-- ") {
				break
			}
			m := commandOfScript.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil || strings.Contains(line, "/dev/std") || i > 0 && strings.HasPrefix(lines[i-1], "stdin ") {
				continue
			}
			code := m[2]
			if code == "" {
				code = "0"
			}
			lines[i] = m[1] + "run " + code + m[3] + "\n"
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// asked reports whether the flags name scripts to run.
func asked(t *testing.T) bool {
	t.Helper()
	return strings.Contains(flag.Lookup("test.run").Value.String(), "/")
}

// runCommand is `run CODE ARGS…`: the program in this process, in the folder and the environment of the script.
func runCommand(ts *testscript.TestScript, neg bool, args []string) {
	defer enter(ts)()
	program, err := exec.LookPath("capcli")
	ts.Check(err)
	var stdout, stderr bytes.Buffer
	world := func() *shell.Env {
		e := newWorld()
		e.Stdin, e.Stdout, e.Stderr, e.Screen = strings.NewReader(""), &stdout, &stderr, shell.Screen{}
		e.Program = func() (string, error) { return program, nil }
		return e
	}
	code := playNext(world, func(e *shell.Env) int { return run(context.Background(), e, args[1:]) })
	for i, said := range []*bytes.Buffer{&stdout, &stderr} {
		f, err := os.CreateTemp(ts.Getenv(recordFolder), "said")
		ts.Check(err)
		_, err = f.Write(said.Bytes())
		ts.Check(err)
		ts.Check(f.Close())
		_, err = io.Copy([]io.Writer{ts.Stdout(), ts.Stderr()}[i], said)
		ts.Check(err)
	}
	if same := strconv.Itoa(code) == args[0]; same == neg {
		ts.Fatalf("exit code %d\n%s", code, ts.ReadFile("stderr"))
	}
}

// enter makes the folder and the environment of a script those of this process, and returns what takes that back.
func enter(ts *testscript.TestScript) (leave func()) {
	was := os.Environ()
	dir, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	setEnvironment(ts.Value(environment{}).([]string))
	return func() {
		setEnvironment(was)
		ts.Check(os.Chdir(dir))
	}
}

func setEnvironment(vars []string) {
	os.Clearenv()
	for _, v := range vars {
		if key, value, _ := strings.Cut(v, "="); key != "" {
			_ = os.Setenv(key, value) // what a process was given may have names that cannot be set
		}
	}
}
