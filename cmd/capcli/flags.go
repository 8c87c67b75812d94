package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli"

	"capcli/cmd/bundle"
)

// flagError returns the usage error for err, an error of parsing the flags of cmd. For an unknown
// flag it suggests the nearest.
func flagError(cmd *cobra.Command, err error) error {
	wrong := wrongFlag(cmd, err)
	wrong.text = bundle.NewSpelling(cmd, wrong.text)
	return wrong
}

func wrongFlag(cmd *cobra.Command, err error) *usageError {
	hint := cmd.CommandPath() + " --help"
	var (
		none    *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &none):
		return &usageError{text: unknownFlag(cmd, none), hint: hint}
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return &usageError{text: fmt.Sprintf("--%s wants %s after it", f.Name, article(f)), hint: hint}
	case errors.As(err, &invalid):
		for inner := invalid; errors.As(inner.Unwrap(), &inner); { // unwrap to the key of a bundle
			invalid = inner
		}
		f := invalid.GetFlag()
		if known, ok := errors.AsType[*capcli.UnknownError](err); ok {
			return &usageError{text: fmt.Sprintf("--%s: %s", f.Name, known.Text), hint: hint}
		}
		return &usageError{text: fmt.Sprintf("--%s wants %s, found %q%s", f.Name, article(f), invalid.GetValue(), because(f, invalid)), hint: hint}
	}
	return &usageError{text: err.Error(), hint: hint}
}

func unknownFlag(cmd *cobra.Command, none *pflag.NotExistError) string {
	name := none.GetSpecifiedName()
	if short := none.GetSpecifiedShortnames(); short != "" {
		return fmt.Sprintf("unknown flag -%s in -%s", name, short)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if near := nearestFlag(name, names); near != "" {
		return fmt.Sprintf("unknown flag --%s; did you mean --%s?", name, near)
	}
	return "unknown flag --" + name
}

// nearestFlag returns the likely name: the nearest in spelling, or the only one that starts with
// name.
func nearestFlag(name string, names []string) string {
	if near := capcli.Nearest(name, names); near != "" {
		return near
	}
	begin := ""
	for _, n := range names {
		if strings.HasPrefix(n, name) {
			if begin != "" {
				return ""
			}
			begin = n
		}
	}
	return begin
}

// article describes the kind of value that a flag takes.
func article(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int8", "int16", "int32", "int64", "count":
		return "a whole number"
	case "uint", "uint8", "uint16", "uint32", "uint64":
		return "a whole number from 0"
	case "float32", "float64":
		return "a number"
	case "intSlice":
		return "whole numbers with commas between them"
	case "bool":
		return "true or false"
	case "string", "stringSlice", "stringArray":
		return "a value"
	}
	return "a " + f.Value.Type()
}

// because returns the cause of an invalid value; "" for types where article already says it.
func because(f *pflag.Flag, invalid *pflag.InvalidValueError) string {
	switch f.Value.Type() {
	case "int", "int64", "uint", "uint64", "float64", "bool", "count", "intSlice":
		return ""
	}
	return ": " + invalid.Unwrap().Error()
}

// logFlag is the value of --trace: one job log, or further ones in more where the command takes them.
type logFlag struct {
	name *string
	more *[]string // nil where a second log is refused
}

func (f logFlag) Type() string { return "string" }

func (f logFlag) String() string {
	if f.name == nil {
		return ""
	}
	return *f.name
}

func (f logFlag) Set(text string) error {
	switch {
	case *f.name == "":
		*f.name = text
	case f.more == nil:
		return fmt.Errorf("it is given twice, first as %s; one log is read", *f.name)
	default:
		*f.more = append(*f.more, text)
	}
	return nil
}

// seedFlag is the value of a flag for a seed; the seed stays nil where the flag is not given.
type seedFlag struct{ seed **capcli.Seed }

func (f seedFlag) Type() string { return "uint64" }

func (f seedFlag) String() string {
	if f.seed == nil || *f.seed == nil {
		return "0"
	}
	return strconv.FormatUint(uint64(**f.seed), 10)
}

func (f seedFlag) Set(text string) error {
	v, err := strconv.ParseUint(text, 0, 64)
	seed := capcli.Seed(v)
	*f.seed = &seed
	return err
}

// logsFlag is --trace of a command that takes several job logs.
type logsFlag struct{ logFlag }

func (f logsFlag) Type() string           { return "stringArray" }
func (f logsFlag) Append(v string) error  { return f.Set(v) }
func (f logsFlag) Replace([]string) error { return errors.ErrUnsupported }
func (f logsFlag) GetSlice() []string     { return append([]string{*f.name}, *f.more...) }
