package shell

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"capcli"
)

// SetGroup makes cmd a command that only holds others. On its own it shows its help; an unknown
// subcommand is an error that suggests the nearest.
func SetGroup(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		var names []string
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				names = append(names, c.Name())
			}
		}
		text := fmt.Sprintf("unknown command %q", strings.TrimSpace(pathUnder(cmd)+" "+args[0])) + capcli.DidYouMean(args[0], names)
		return &UsageError{Text: text, Hint: "have " + strings.Join(names, ", ") + " (" + cmd.CommandPath() + " --help)"}
	}
}

// pathUnder returns the path of cmd without the program's name.
func pathUnder(cmd *cobra.Command) string {
	_, rest, _ := strings.Cut(cmd.CommandPath(), " ")
	return rest
}

// NoArgs refuses any argument.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return &UsageError{
		Text: fmt.Sprintf("%s takes no argument, found %q", pathUnder(cmd), args[0]),
		Hint: cmd.CommandPath() + " --help",
	}
}

// WantArgs requires exactly the arguments called names.
func WantArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		path := cmd.CommandPath()
		switch {
		case len(args) < len(names):
			return &UsageError{
				Text: fmt.Sprintf("%s needs %s: %s is missing", pathUnder(cmd), strings.Join(names, " "), names[len(args)]),
				Hint: path + " --help",
			}
		case len(args) > len(names):
			return &UsageError{
				Text: fmt.Sprintf("%s takes only %s, found also %q", pathUnder(cmd), strings.Join(names, " "), args[len(names)]),
				Hint: path + " --help",
			}
		}
		return nil
	}
}

// OneArg requires exactly one argument; what names it in the error.
func OneArg(cmd *cobra.Command, args []string, what string) error {
	if len(args) == 1 {
		return nil
	}
	return &UsageError{Text: fmt.Sprintf("%s wants %s, found %d arguments", pathUnder(cmd), what, len(args)), Hint: cmd.CommandPath() + " --help"}
}
