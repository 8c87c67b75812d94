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
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
	_ "time/tzdata" // --tz must work where the system has no zone files

	"capcli"
	"capcli/cmd/capcli/plan"
	"capcli/cmd/files"
	"capcli/cmd/shell"
)

func main() { os.Exit(runProgram()) }

// runProgram runs the program in the real world and returns its exit code.
func runProgram() int { return runWorld(newWorld()) }

func newWorld() *shell.Env {
	shell.Version = version
	out, isOut := shell.Terminal(os.Stdout.Fd())
	_, isErr := shell.Terminal(os.Stderr.Fd())
	return &shell.Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Screen: shell.Screen{Stdout: isOut, Stderr: isErr, Width: out},
		Disk:   files.OS(), Temps: &files.Temps{}, Getenv: os.Getenv, Now: time.Now, Program: os.Executable,
	}
}

// runWorld runs the command of the process, which INT and TERM stop, and returns the exit code.
func runWorld(e *shell.Env) int {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := shell.Stopped{By: <-signals}
		stop(first) // the command finishes its current step or discards its output
		<-signals
		e.Temps.RemoveAll(e.Disk)
		os.Exit(first.Code())
	}()
	return run(ctx, e, os.Args[1:])
}

// run runs the command that args name and returns the exit code.
func run(ctx context.Context, e *shell.Env, args []string) (code int) {
	out := &watched{w: e.Stdout}
	e.Stdout = out
	e.Secrets = shell.ArgumentSecrets(args)
	e.Stdin = files.PatientReader(ctx, e.Stdin)
	e.Disk = e.Disk.Patient(ctx)
	defer func() {
		if v := recover(); v != nil {
			code = crashed(e, v)
		}
	}()
	root := newRoot(e)
	root.SetArgs(plan.ChoosePlan(root, args))
	root.SetIn(e.Stdin)
	root.SetOut(e.Stdout)
	root.SetErr(e.Stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil && (err == nil || errors.Is(err, out.err)) && !shell.HasType[*files.WriteError](err) {
		err = &files.WriteError{Path: "stdout", Written: out.n, Err: out.err}
	}
	if s, ok := errors.AsType[shell.Stopped](context.Cause(ctx)); ok && err != nil && !shell.HasType[*shell.KeptError](err) {
		err = s
	}
	return shell.Conclude(e, err)
}

// crashed reports an internal error without a stack trace and returns the exit code. An overflow is
// reported as an input error. CAPCLI_DEBUG=1 adds the stack.
func crashed(e *shell.Env, v any) int {
	err, _ := v.(error)
	if errors.Is(err, capcli.ErrOverflow) {
		return shell.Conclude(e, &capcli.InputError{Text: err.Error(), Hint: "check the prices, the GPU counts and the length of the run"})
	}
	code := shell.ExitFailed
	if _, ok := errors.AsType[*capcli.AccountingError](err); ok {
		code = shell.ExitAccounting
	}
	_, _ = fmt.Fprintf(e.Stderr, "capcli: internal error: %v\n", v)
	_, _ = fmt.Fprintln(e.Stderr, "This is a bug in capcli; nothing was written. Please report it with the command that you ran.")
	if e.Getenv("CAPCLI_DEBUG") == "1" {
		_, _ = e.Stderr.Write(debug.Stack())
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
