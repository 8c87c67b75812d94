package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// writeHelp writes the help of cmd: examples first, for they answer most
// questions, and short enough for one screen.
func writeHelp(w io.Writer, cmd *cobra.Command) {
	var b bytes.Buffer
	if cmd.Example != "" {
		fmt.Fprintf(&b, "examples:\n%s\n\n", strings.TrimRight(cmd.Example, "\n"))
	}
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(&b, "%s\n\nusage: %s\n", strings.TrimSpace(text), usageLine(cmd))
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(&b, "also called: %s\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\ncommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-*s  %s\n", cmd.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\nflags:\n%s", cmd.LocalFlags().FlagUsagesWrapped(100))
	}
	if cmd.HasParent() {
		b.WriteString("\nalso: -q, -v, --no-color, --progress MODE (capcli --help)\n")
	}
	_, _ = b.WriteTo(w) // the writer remembers a failure
}

func usageLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	if cmd.HasAvailableSubCommands() {
		return line + " COMMAND"
	}
	if _, args, ok := strings.Cut(cmd.Use, " "); ok {
		line += " " + args
	}
	return line + " [flags]"
}
