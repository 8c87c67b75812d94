// Command capcli says how many GPUs to reserve: it reads job logs, replays them
// against a mix of owned, reserved, on-demand and spot capacity, and reports
// what that costs, how long jobs wait and what is stranded.
//
// The file of a command has three parts: an options struct, newX (flags alone) and runX (which
// never sees cobra). A command reaches the outside world through an env; only this file makes an
// env of the real world.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // --tz must work where the system has no zone files

	"github.com/spf13/cobra"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/profile/bucket"
)

// env is the outside world as a command sees it, with the global flags.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	screen         screen
	disk           files.Disk
	temps          *files.Temps // files without their final name yet
	getenv         func(string) string
	web            http.RoundTripper // transport of requests to servers; nil is the default
	now            func() time.Time
	program        func() (string, error) // the path of this program; nil is unknown

	quiet, verbose bool
	noColor        bool
	secrets        *strings.Replacer // replaces secrets in messages; nil replaces nothing
	progress       string            // none, plain or json; "" chooses by what stderr is
	form           string            // the value of -o of the running command
	cmd            *cobra.Command    // the running command; messages name its flags

	buckets []*bucket.Bucket // those opened, with -v

	emitted func(report.Doc) // receives results instead of stdout, for completion; nil elsewhere
}

// screen describes where stdout and stderr go.
type screen struct {
	stdout, stderr bool // whether the stream is a terminal
	width          int  // columns of stdout; 0 is unknown
}

func main() { os.Exit(runProgram()) }

// runProgram runs the program in the real world and returns its exit code.
func runProgram() int { return runWorld(newWorld()) }

// newWorld returns the env of the real world.
func newWorld() *env {
	out, isOut := terminal(os.Stdout.Fd())
	_, isErr := terminal(os.Stderr.Fd())
	return &env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		screen: screen{stdout: isOut, stderr: isErr, width: out},
		disk:   files.OS(), temps: &files.Temps{}, getenv: os.Getenv, now: time.Now, program: os.Executable,
	}
}

// runWorld runs the command of the process, which INT and TERM stop, and returns the exit code.
func runWorld(e *env) int {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := stopped{<-signals}
		stop(first) // the command finishes its current step or discards its output
		<-signals
		e.temps.RemoveAll(e.disk)
		os.Exit(first.code())
	}()
	return run(ctx, e, os.Args[1:])
}

// stopped is the error of a signal that ended the program.
type stopped struct{ by os.Signal }

func (s stopped) Error() string { return fmt.Sprintf("stopped by %v", s.by) }

func (s stopped) code() int {
	if s.by == os.Interrupt {
		return exitInterrupted
	}
	return exitTerminated
}

// run runs the command that args name and returns the exit code.
func run(ctx context.Context, e *env, args []string) (code int) {
	out := &watched{w: e.stdout}
	e.stdout = out
	e.secrets = argumentSecrets(args)
	e.stdin = files.PatientReader(ctx, e.stdin)
	e.disk = e.disk.Patient(ctx)
	defer func() {
		if v := recover(); v != nil {
			code = crashed(e, v)
		}
	}()
	root := newRoot(e)
	root.SetArgs(choosePlan(root, args))
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil && (err == nil || errors.Is(err, out.err)) && !hasType[*files.WriteError](err) {
		err = &files.WriteError{Path: "stdout", Written: out.n, Err: out.err}
	}
	if s, ok := errors.AsType[stopped](context.Cause(ctx)); ok && err != nil && !hasType[*keptError](err) {
		err = s
	}
	return conclude(e, err)
}

// crashed reports an internal error without a stack trace and returns the exit code. An overflow is
// reported as an input error. CAPCLI_DEBUG=1 adds the stack.
func crashed(e *env, v any) int {
	err, _ := v.(error)
	if errors.Is(err, capcli.ErrOverflow) {
		return conclude(e, &capcli.InputError{Text: err.Error(), Hint: "check the prices, the GPU counts and the length of the run"})
	}
	code := exitFailed
	if _, ok := errors.AsType[*capcli.AccountingError](err); ok {
		code = exitAccounting
	}
	_, _ = fmt.Fprintf(e.stderr, "capcli: internal error: %v\n", v)
	_, _ = fmt.Fprintln(e.stderr, "This is a bug in capcli; nothing was written. Please report it with the command that you ran.")
	if e.getenv("CAPCLI_DEBUG") == "1" {
		_, _ = e.stderr.Write(debug.Stack())
	}
	return code
}

// watched counts bytes and remembers the first write error, for callers that ignore errors.
type watched struct {
	w   io.Writer
	n   int64
	err error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.n += int64(n)
	if w.err == nil {
		w.err = err
	}
	return n, err
}
