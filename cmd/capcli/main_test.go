package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/shell"
	"capcli/profile"
	"capcli/testdata/shelltest"
)

var update = flag.Bool("update", false, "rewrite the golden files and the expected parts of scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"capcli": recorded})
}

// exits CODE PROGRAM ARGS… runs a program and demands its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit interface{ ExitCode() int }
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// pack FROM TO [BYTES] compresses a file with gzip and keeps the first BYTES.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: pack FROM TO [BYTES]")
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, ts.ReadFile(args[0]))
	ts.Check(err)
	ts.Check(z.Close())
	out := b.Bytes()
	if len(args) > 2 {
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		out = out[:min(n, len(out))]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out, 0o600))
}

// repeat FILE N TEXT appends N times TEXT to a file; \x00 and the like are bytes.
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat FILE N TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	_, err = f.WriteString(strings.Repeat(text, n))
	ts.Check(err)
	ts.Check(f.Close())
}

// jsonline FILE demands that the last line of a file, or of stdout or stderr, is JSON.
func jsonLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: jsonline FILE")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	if last := lines[len(lines)-1]; !json.Valid([]byte(last)) {
		ts.Fatalf("not JSON: %s", last)
	}
}

// onlyfile FOLDER NAMES… demands that a folder holds these names and no others.
func onlyFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: onlyfile FOLDER NAMES")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if g, w := strings.Join(got, " "), strings.Join(args[1:], " "); g != w {
		ts.Fatalf("%s holds %q, want %q", args[0], g, w)
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want int
	}{
		{"done", nil, 0},
		{"anything", errors.New("x"), 1},
		{"missing file", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, 1},
		{"usage", &shell.UsageError{Text: "x"}, 2},
		{"unknown name", &capcli.UnknownError{Text: "x"}, 2},
		{"input", &capcli.InputError{Text: "x"}, 3},
		{"several inputs", errors.Join(&capcli.InputError{Text: "x"}, &capcli.InputError{Text: "y"}), 3},
		{"partial", &capcli.ResultError{Kind: capcli.Incomplete, Text: "x"}, 4},
		{"condition", &capcli.ResultError{Kind: capcli.ConditionTrue, Text: "x"}, 5},
		{"partial and condition", errors.Join(&capcli.ResultError{Kind: capcli.Incomplete, Text: "x"}, &capcli.ResultError{Kind: capcli.ConditionTrue, Text: "x"}), 5},
		{"no plan", &capcli.ResultError{Kind: capcli.NoPlan, Text: "x"}, 6},
		{"accounts", &capcli.AccountingError{Err: errors.New("x")}, 7},
		{"output", &files.WriteError{Path: "x", Err: syscall.ENOSPC}, 8},
		{"driver replaced", errors.Join(nil, &profile.GoneError{Text: "x"}), 9},
		{"interrupted", shell.Stopped{By: os.Interrupt}, 130},
		{"terminated", shell.Stopped{By: syscall.SIGTERM}, 143},
	}
	for _, tt := range tests {
		e, _, stderr := shelltest.NewEnv()
		if got := shell.Conclude(e, tt.err); got != tt.want {
			t.Errorf("%s: exit %d, want %d (stderr %q)", tt.name, got, tt.want, stderr)
		}
	}
}

func TestPanicIsOneLine(t *testing.T) {
	tests := []struct {
		name  string
		value any
		debug bool
		code  int
		want  string
	}{
		{"a bug", "index out of range", false, 1, "capcli: internal error: index out of range\n"},
		{"the accounts", &capcli.AccountingError{Err: errors.New("1 is not 2")}, false, 7, "capcli: internal error: the accounts do not balance: 1 is not 2\n"},
		{"money", capcli.ErrOverflow, false, 3, "error: money overflow"},
		{"a bug, in detail", "x", true, 1, "goroutine "},
	}
	for _, tt := range tests {
		e, _, stderr := shelltest.NewEnv()
		if tt.debug {
			e.Getenv = func(name string) string { return map[string]string{"CAPCLI_DEBUG": "1"}[name] }
		}
		e.Now = func() time.Time { panic(tt.value) } // the first thing that import asks the clock
		in := filepath.Join(t.TempDir(), "jobs.csv")
		if err := os.WriteFile(in, []byte("job_id,submit,gpus,run_s\na,0,1,1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code := run(context.Background(), e, []string{"import", "csv", in, "--out", "-"})
		if code != tt.code || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%s: exit %d, stderr %q, want %d and %q", tt.name, code, stderr, tt.code, tt.want)
		}
		if has := strings.Contains(stderr.String(), "goroutine "); has != tt.debug {
			t.Errorf("%s: a stack is shown: %v", tt.name, has)
		}
	}
}

func TestStoppedImportLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "jobs.csv")
	text := []byte("job_id,submit,gpus,run_s\n")
	for i := range 10_000 {
		text = append(strconv.AppendInt(text, int64(i), 10), ",0,1,1\n"...)
	}
	if err := os.WriteFile(in, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stop(shell.Stopped{By: os.Interrupt})
	e, _, stderr := shelltest.NewEnv()
	code := run(ctx, e, []string{"import", "csv", in, "--out", filepath.Join(dir, "out.csv")})
	if code != 130 || !strings.HasPrefix(stderr.String(), "error: stopped by interrupt") {
		t.Errorf("exit %d, stderr %q, want 130", code, stderr)
	}
	if names := ls(t, dir); names != "jobs.csv" {
		t.Errorf("left behind: %s", names)
	}
}

// TestSignals stops a real process that waits for input: nothing is left behind.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		signal syscall.Signal
		code   int
		said   string
	}{
		{syscall.SIGINT, 130, "error: stopped by interrupt\n"},
		{syscall.SIGTERM, 143, "error: stopped by terminated\n"},
	}
	for _, tt := range tests {
		bin, dir := t.TempDir(), t.TempDir()
		name := filepath.Join(bin, "capcli") // under this name the test binary is the program
		if err := os.Symlink(self, name); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(name, "import", "csv", "-", "--out", "jobs.csv")
		var stderr bytes.Buffer
		cmd.Dir, cmd.Stderr = dir, &stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// When more than a pipe holds has been taken, the program reads, and so it writes.
		if _, err := io.WriteString(in, "job_id,submit,gpus,run_s\n"+strings.Repeat("a,0,1,1\n", 1<<17)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(tt.signal); err != nil {
			t.Fatal(err)
		}
		err = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != tt.code || stderr.String() != tt.said {
			t.Errorf("%v: exit %d (%v), stderr %q, want %d and %q", tt.signal, code, err, stderr.String(), tt.code, tt.said)
		}
		if names := ls(t, dir); names != "" {
			t.Errorf("%v: left behind: %s", tt.signal, names)
		}
	}
}

func TestStoppingAtOnceTakesTheTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	e, _, _ := shelltest.NewEnv()
	done, err := e.Create(filepath.Join(dir, "done"))
	if err != nil {
		t.Fatal(err)
	}
	if err := done.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Create(filepath.Join(dir, "half")); err != nil {
		t.Fatal(err)
	}
	e.Temps.RemoveAll(e.Disk)
	if names := ls(t, dir); names != "done" {
		t.Errorf("there is %q, want only done", names)
	}
}

func ls(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
