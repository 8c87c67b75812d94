package shell

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli"
	"capcli/cmd/bundle"
)

// FlagError returns the usage error for err, an error of parsing the flags of cmd. For an unknown
// flag it suggests the nearest.
func FlagError(cmd *cobra.Command, err error) error {
	wrong := wrongFlag(cmd, err)
	wrong.Text = bundle.NewSpelling(cmd, wrong.Text)
	return wrong
}

func wrongFlag(cmd *cobra.Command, err error) *UsageError {
	hint := cmd.CommandPath() + " --help"
	var (
		none    *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &none):
		return &UsageError{Text: unknownFlag(cmd, none), Hint: hint}
	case errors.As(err, &missing):
		f := missing.GetFlag()
		return &UsageError{Text: fmt.Sprintf("--%s wants %s after it", f.Name, article(f)), Hint: hint}
	case errors.As(err, &invalid):
		for inner := invalid; errors.As(inner.Unwrap(), &inner); { // unwrap to the key of a bundle
			invalid = inner
		}
		f := invalid.GetFlag()
		if known, ok := errors.AsType[*capcli.UnknownError](err); ok {
			return &UsageError{Text: fmt.Sprintf("--%s: %s", f.Name, known.Text), Hint: hint}
		}
		return &UsageError{Text: fmt.Sprintf("--%s wants %s, found %q%s", f.Name, article(f), invalid.GetValue(), because(f, invalid)), Hint: hint}
	}
	return &UsageError{Text: err.Error(), Hint: hint}
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
	begin := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, name) })
	if len(begin) == 1 {
		return begin[0]
	}
	return ""
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

// LogFlag is the value of --trace: one job log, or further ones in more where the command takes them.
type LogFlag struct {
	Name *string
	More *[]string // nil where a second log is refused
}

// Type returns the kind of value that help shows: see pflag.Value.
func (f LogFlag) Type() string { return "string" }

func (f LogFlag) String() string {
	if f.Name == nil {
		return ""
	}
	return *f.Name
}

// Set takes a log, or says that one is there already.
func (f LogFlag) Set(text string) error {
	switch {
	case *f.Name == "":
		*f.Name = text
	case f.More == nil:
		return fmt.Errorf("it is given twice, first as %s; one log is read", *f.Name)
	default:
		*f.More = append(*f.More, text)
	}
	return nil
}

// SeedFlag is the value of a flag for a seed; the seed stays nil where the flag is not given.
type SeedFlag struct{ Seed **capcli.Seed }

// Type returns the kind of value that help shows: see pflag.Value.
func (f SeedFlag) Type() string { return "uint64" }

func (f SeedFlag) String() string {
	if f.Seed == nil || *f.Seed == nil {
		return "0"
	}
	return strconv.FormatUint(uint64(**f.Seed), 10)
}

// Set takes a seed as a whole number.
func (f SeedFlag) Set(text string) error {
	v, err := strconv.ParseUint(text, 0, 64)
	seed := capcli.Seed(v)
	*f.Seed = &seed
	return err
}

// LogsFlag is --trace of a command that takes several job logs.
type LogsFlag struct{ LogFlag }

// Type returns the kind of value that help shows: see pflag.Value.
func (f LogsFlag) Type() string { return "stringArray" }

// Append takes one more log: see pflag.SliceValue.
func (f LogsFlag) Append(v string) error { return f.Set(v) }

// Replace is refused: logs are only added.
func (f LogsFlag) Replace([]string) error { return errors.ErrUnsupported }

// GetSlice returns the logs in the order in which they were given.
func (f LogsFlag) GetSlice() []string { return append([]string{*f.Name}, *f.More...) }
