package capcli

import (
	"errors"
	"fmt"
	"strings"
)

// InputError is the error of input that was read and refused. It says where the fault is, what was
// expected and found, and what to do.
type InputError struct {
	File  string
	Line  int    // from 1; 0 is not known
	Field string // column or key; "" is the whole line
	Text  string // what was expected and what was found
	Hint  string // what to do
	Err   error  // cause, for errors.Is
}

func (e *InputError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.Text)
	return b.String()
}

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// NameFile returns err with the name of its file, if it is an *InputError without one.
func NameFile(err error, file string) error {
	var in *InputError
	if !errors.As(err, &in) || in.File != "" {
		return err
	}
	named := *in
	named.File = file
	return &named
}

// RequestError is the error of a request that cannot be answered as asked. It names the wrong
// field, what it wants, what was found, and what to do.
type RequestError struct {
	Field string // the field, named like its flag: "level"; "" is the whole request
	Text  string // "wants percents between 0 and 100, found 120"; it may begin with a colon
	Hint  string // what to do; fields are written as field=value, "level=95"
}

func (e *RequestError) Error() string {
	if e.Field == "" || strings.HasPrefix(e.Text, ":") {
		return e.Field + e.Text
	}
	return e.Field + " " + e.Text
}

// ResultError is a warning that comes with a finished result.
type ResultError struct {
	Kind ResultFault
	Text string
	Hint string // what to do
}

// ResultFault is the kind of a ResultError. It is an error for errors.Is.
type ResultFault uint8

// The kinds of fault of a finished result.
const (
	Incomplete    ResultFault = iota // part of the data is missing from the result
	ConditionTrue                    // a condition that the caller set is true
	NoPlan                           // nothing satisfies the constraints
)

func (f ResultFault) Error() string {
	return [...]string{"part of the data is missing", "a condition is true", "nothing satisfies the constraints"}[f]
}

func (e *ResultError) Error() string { return e.Text }

// Unwrap returns the Kind.
func (e *ResultError) Unwrap() error { return e.Kind }

// AccountingError says that sums which must be equal differ, which is a bug. No output may be
// written after it.
type AccountingError struct{ Err error }

func (e *AccountingError) Error() string { return "the accounts do not balance: " + e.Err.Error() }

// Unwrap returns the error with the sums.
func (e *AccountingError) Unwrap() error { return e.Err }

// Quoted returns at most 60 characters of a text from outside, in quotes.
func Quoted(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// ShellWord returns s, quoted for a shell if necessary.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`!*?[]{}()<>|&;~#") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
