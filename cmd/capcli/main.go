// Command capcli says how many GPUs to reserve: it reads job logs, replays them
// against a mix of owned, reserved, on-demand and spot capacity, and reports
// what that costs, how long jobs wait and what is stranded.
//
// A command file has three things: an options struct, newX (flags only) and runX
// (which never sees cobra). What a command needs of the outside world comes in
// an env; only this file makes one from the real world.
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
)

// env is the outside world, and what the global flags say about it.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	screen         screen
	disk           files.Disk
	temps          *files.Temps // files that have no final name yet
	getenv         func(string) string
	web            http.RoundTripper // asks servers; nil is the usual one
	now            func() time.Time

	quiet, verbose bool
	noColor        bool
	secrets        *strings.Replacer // takes them out of messages; nil takes none
	progress       string            // none, plain, json; "" is by what stderr is
	form           string            // the value of -o of the command that runs
	cmd            *cobra.Command    // the command that runs, whose flags messages name

	emitted func(report.Doc) // takes results in place of stdout, for completion; nil elsewhere
}

// screen says what the streams lead to.
type screen struct {
	stdout, stderr bool // is a terminal
	width          int  // columns of stdout; 0 is unknown
}

func main() {
	out, isOut := terminal(os.Stdout.Fd())
	_, isErr := terminal(os.Stderr.Fd())
	e := &env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		screen: screen{stdout: isOut, stderr: isErr, width: out},
		disk:   files.OS(), temps: &files.Temps{}, getenv: os.Getenv, now: time.Now,
	}
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := stopped{<-signals}
		stop(first) // the command finishes what it is in, or leaves nothing
		<-signals
		e.temps.RemoveAll(e.disk)
		os.Exit(first.code())
	}()
	os.Exit(run(ctx, e, os.Args[1:]))
}

// stopped says which signal ended the program.
type stopped struct{ by os.Signal }

func (s stopped) Error() string { return fmt.Sprintf("stopped by %v", s.by) }

func (s stopped) code() int {
	if s.by == os.Interrupt {
		return exitInterrupted
	}
	return exitTerminated
}

// run is the program: it runs the command that args name and gives the exit code.
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
	root.SetArgs(choosePlan(e, root, args))
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

// crashed says that capcli itself is broken, without a page of stack.
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

// watched remembers that a write failed, for writers that do not look.
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
