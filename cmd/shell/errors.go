package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"capcli"
	"capcli/cmd/bundle"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/profile"
	"capcli/profile/bucket"
	"capcli/scenarios/play"
)

// Exit codes. Scripts rely on them: see the README.
const (
	ExitDone        = 0
	ExitFailed      = 1 // network, missing file, permission
	ExitUsage       = 2 // wrong flag or argument
	ExitInput       = 3 // the input was read and rejected
	ExitPartial     = 4 // finished, but part of the data is missing
	ExitCondition   = 5 // a --fail-if condition was true
	ExitNoPlan      = 6 // no plan satisfies the constraints
	ExitAccounting  = 7 // an accounting check failed, which is a bug in capcli
	ExitOutput      = 8 // the output could not be written
	exitGone        = 9 // what is recorded is gone for this process; another may find it
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// UsageError is an error about a wrong flag or argument.
type UsageError struct{ Text, Hint string }

func (e *UsageError) Error() string { return e.Text }

// ExitCode returns the exit code for err.
func ExitCode(err error) int {
	for _, k := range []struct {
		code int
		is   func(error) bool
	}{
		{ExitInterrupted, func(err error) bool { s, ok := errors.AsType[Stopped](err); return ok && s.Code() == ExitInterrupted }},
		{ExitTerminated, HasType[Stopped]},
		{ExitAccounting, HasType[*capcli.AccountingError]},
		{ExitOutput, HasType[*files.WriteError]},
		{exitGone, HasType[*profile.GoneError]},
		{ExitUsage, HasType[*UsageError]},
		{ExitUsage, HasType[*capcli.UnknownError]},
		{ExitUsage, HasType[*capcli.RequestError]},
		{ExitInput, HasType[*capcli.InputError]},
		{ExitInput, HasType[*bucket.Error]},
		{ExitNoPlan, func(err error) bool { return errors.Is(err, capcli.NoPlan) }},
		{ExitCondition, func(err error) bool { return errors.Is(err, capcli.ConditionTrue) }},
		{ExitPartial, func(err error) bool { return errors.Is(err, capcli.Incomplete) }},
	} {
		if k.is(err) {
			return k.code
		}
	}
	return ExitFailed
}

// HasType reports whether err is or wraps an E.
func HasType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// hintOf returns a hint on how to mend err, or "". It names fields of a request by their flags.
func hintOf(e *Env, err error) string {
	var (
		usage   *UsageError
		input   *capcli.InputError
		result  *capcli.ResultError
		output  *files.WriteError
		missing *play.MissingInputError
		request *capcli.RequestError
		far     *bucket.Error
		gone    *profile.GoneError
	)
	switch {
	case errors.As(err, &usage):
		return usage.Hint
	case errors.As(err, &input):
		return input.Hint
	case errors.As(err, &result):
		return result.Hint
	case errors.As(err, &output):
		return output.Hint
	case errors.As(err, &missing):
		return missing.Hint
	case errors.As(err, &request):
		return bundle.NameFlags(e.Cmd, request.Hint)
	case errors.As(err, &gone):
		return gone.Hint
	case errors.As(err, &far):
		return far.Hint
	case errors.Is(err, fs.ErrPermission):
		return "check who may read it: ls -l"
	}
	return ""
}

// Conclude reports err on stderr, if any, and returns the exit code. With -o json the last line on
// stderr repeats the error as JSON.
func Conclude(e *Env, err error) int {
	e.noteTraffic()
	if err == nil {
		return ExitDone
	}
	code := ExitCode(err)
	text, hint := e.redact(messageOf(e, err)), e.redact(bundle.NewSpelling(e.Cmd, hintOf(e, err)))
	if errors.Is(err, context.Canceled) {
		text = "stopped"
	}
	word := "error"
	if code == ExitPartial || code == ExitCondition {
		word = "warning" // the result was written
	}
	_, _ = fmt.Fprintf(e.Stderr, "%s: %s\n", word, Printable(text))
	if hint != "" {
		_, _ = fmt.Fprintf(e.Stderr, "hint: %s\n", strings.ReplaceAll(Printable(hint), "\n", "\n      "))
	}
	if e.Verbose {
		_, _ = fmt.Fprintf(e.Stderr, "exit %d\n", code)
	}
	if e.Form == "json" || e.Form == "jsonl" {
		writeErrorJSON(e, err, code)
	}
	return code
}

// messageOf returns the message of err; it names a field of a request by its flag.
func messageOf(e *Env, err error) string {
	text := err.Error()
	if wrong, ok := errors.AsType[*capcli.RequestError](err); ok && wrong.Field != "" {
		text = strings.Replace(text, wrong.Error(), "--"+wrong.Error(), 1)
	}
	return bundle.NewSpelling(e.Cmd, text)
}

// redact replaces secrets of the program's arguments in text.
func (e *Env) redact(text string) string {
	if e.Secrets == nil {
		return text
	}
	return e.Secrets.Replace(text)
}

// Printable strips terminal control sequences from each line of text.
func Printable(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = report.Strip(l)
	}
	return strings.Join(lines, "\n")
}

func writeErrorJSON(e *Env, err error, code int) {
	b := report.Problem{Text: e.redact(messageOf(e, err)), Hint: e.redact(bundle.NewSpelling(e.Cmd, hintOf(e, err))), Exit: code}
	if in, ok := errors.AsType[*capcli.InputError](err); ok {
		b.File, b.Line, b.Field = e.redact(in.File), in.Line, in.Field
	}
	line, failed := json.Marshal(report.Failure{Schema: "capcli/error/v1", Error: b})
	if failed == nil {
		_, _ = fmt.Fprintf(e.Stderr, "%s\n", line)
	}
}
