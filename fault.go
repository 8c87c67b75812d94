package capcli

import (
	"errors"
	"fmt"
	"strings"
)

// InputError is the error of input that was read and refused. It says where, what was
// wrong (expected and found), and what to do.
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

// NameFile returns err with the name of the file that it is about, where it is an
// *InputError that has none.
func NameFile(err error, file string) error {
	var in *InputError
	if !errors.As(err, &in) || in.File != "" {
		return err
	}
	named := *in
	named.File = file
	return &named
}

// RequestError is the error of a question that cannot be answered as asked. It says
// which field is wrong, what the field wants, what was found, and what to do.
type RequestError struct {
	Field string // the field, by the name that its flag has: "level"; "" is the request as a whole
	Text  string // "wants percents between 0 and 100, found 120"; it may begin with a colon
	Hint  string // what to do
}

func (e *RequestError) Error() string {
	if e.Field == "" || strings.HasPrefix(e.Text, ":") {
		return e.Field + e.Text
	}
	return e.Field + " " + e.Text
}

// ResultError says, beside a finished result, what its reader must not miss.
type ResultError struct {
	Kind ResultFault
	Text string
	Hint string // what to do
}

// ResultFault is what a ResultError is about. It is an error for errors.Is.
type ResultFault uint8

// What may be wrong with a finished result.
const (
	Incomplete    ResultFault = iota // part of the data is missing from the result
	ConditionTrue                    // a condition that the caller named is so
	NoPlan                           // nothing satisfies the constraints
)

func (f ResultFault) Error() string {
	return [...]string{"part of the data is missing", "a condition is true", "nothing satisfies the constraints"}[f]
}

func (e *ResultError) Error() string { return e.Text }

// Unwrap gives the Kind.
func (e *ResultError) Unwrap() error { return e.Kind }

// AccountingError says that sums differ which must be equal, which is a bug. Nothing
// may be written after it.
type AccountingError struct{ Err error }

func (e *AccountingError) Error() string { return "the accounts do not balance: " + e.Err.Error() }

// Unwrap returns the sums.
func (e *AccountingError) Unwrap() error { return e.Err }

// Quoted returns a text from outside in quotes, at most 60 characters of it.
func Quoted(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// ShellWord returns s, quoted for a shell where that is necessary.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$`!*?[]{}()<>|&;~#") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
