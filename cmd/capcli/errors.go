package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"capcli"
	"capcli/cmd/files"
	"capcli/cmd/report"
	"capcli/profile"
	"capcli/profile/bucket"
	"capcli/scenarios/play"

	"capcli/cmd/bundle"
)

// Exit codes. Scripts rely on them: see the README.
const (
	exitDone        = 0
	exitFailed      = 1 // network, missing file, permission
	exitUsage       = 2 // wrong flag or argument
	exitInput       = 3 // the input was read and rejected
	exitPartial     = 4 // finished, but part of the data is missing
	exitCondition   = 5 // a --fail-if condition was true
	exitNoPlan      = 6 // no plan satisfies the constraints
	exitAccounting  = 7 // an accounting check failed, which is a bug in capcli
	exitOutput      = 8 // the output could not be written
	exitGone        = 9 // what is recorded is gone for this process; another may find it
	exitInterrupted = 130
	exitTerminated  = 143
)

// usageError is an error about a wrong flag or argument.
type usageError struct{ text, hint string }

func (e *usageError) Error() string { return e.text }

// exitCode returns the exit code for err.
func exitCode(err error) int {
	for _, k := range []struct {
		code int
		is   func(error) bool
	}{
		{exitInterrupted, func(err error) bool { s, ok := errors.AsType[stopped](err); return ok && s.code() == exitInterrupted }},
		{exitTerminated, hasType[stopped]},
		{exitAccounting, hasType[*capcli.AccountingError]},
		{exitOutput, hasType[*files.WriteError]},
		{exitGone, hasType[*profile.GoneError]},
		{exitUsage, hasType[*usageError]},
		{exitUsage, hasType[*capcli.UnknownError]},
		{exitUsage, hasType[*capcli.RequestError]},
		{exitInput, hasType[*capcli.InputError]},
		{exitInput, hasType[*bucket.Error]},
		{exitNoPlan, func(err error) bool { return errors.Is(err, capcli.NoPlan) }},
		{exitCondition, func(err error) bool { return errors.Is(err, capcli.ConditionTrue) }},
		{exitPartial, func(err error) bool { return errors.Is(err, capcli.Incomplete) }},
	} {
		if k.is(err) {
			return k.code
		}
	}
	return exitFailed
}

func hasType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// hintOf returns a hint on how to mend err, or "".
func hintOf(err error) string {
	var (
		usage   *usageError
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
		return usage.hint
	case errors.As(err, &input):
		return input.Hint
	case errors.As(err, &result):
		return result.Hint
	case errors.As(err, &output):
		return output.Hint
	case errors.As(err, &missing):
		return missing.Hint
	case errors.As(err, &request):
		return request.Hint
	case errors.As(err, &gone):
		return gone.Hint
	case errors.As(err, &far):
		return far.Hint
	case errors.Is(err, fs.ErrPermission):
		return "check who may read it: ls -l"
	}
	return ""
}

// conclude reports err on stderr, if any, and returns the exit code. With -o json the last line on
// stderr repeats the error as JSON.
func conclude(e *env, err error) int {
	e.noteTraffic()
	if err == nil {
		return exitDone
	}
	code := exitCode(err)
	text, hint := e.redact(messageOf(e, err)), e.redact(bundle.NewSpelling(e.cmd, hintOf(err)))
	if errors.Is(err, context.Canceled) {
		text = "stopped"
	}
	word := "error"
	if code == exitPartial || code == exitCondition {
		word = "warning" // the result was written
	}
	_, _ = fmt.Fprintf(e.stderr, "%s: %s\n", word, printable(text))
	if hint != "" {
		_, _ = fmt.Fprintf(e.stderr, "hint: %s\n", strings.ReplaceAll(printable(hint), "\n", "\n      "))
	}
	if e.verbose {
		_, _ = fmt.Fprintf(e.stderr, "exit %d\n", code)
	}
	if e.form == "json" || e.form == "jsonl" {
		writeErrorJSON(e, err, code)
	}
	return code
}

// messageOf returns the message of err; it names a field of a request by its flag.
func messageOf(e *env, err error) string {
	text := err.Error()
	if wrong, ok := errors.AsType[*capcli.RequestError](err); ok && wrong.Field != "" {
		text = strings.Replace(text, wrong.Error(), "--"+wrong.Error(), 1)
	}
	return bundle.NewSpelling(e.cmd, text)
}

// redact replaces secrets of the program's arguments in text.
func (e *env) redact(text string) string {
	if e.secrets == nil {
		return text
	}
	return e.secrets.Replace(text)
}

// printable strips terminal control sequences from each line of text.
func printable(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = report.Strip(l)
	}
	return strings.Join(lines, "\n")
}

func writeErrorJSON(e *env, err error, code int) {
	b := report.Problem{Text: e.redact(messageOf(e, err)), Hint: e.redact(bundle.NewSpelling(e.cmd, hintOf(err))), Exit: code}
	if in, ok := errors.AsType[*capcli.InputError](err); ok {
		b.File, b.Line, b.Field = e.redact(in.File), in.Line, in.Field
	}
	line, failed := json.Marshal(report.Failure{Schema: "capcli/error/v1", Error: b})
	if failed == nil {
		_, _ = fmt.Fprintf(e.stderr, "%s\n", line)
	}
}
