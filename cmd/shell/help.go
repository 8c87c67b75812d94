package shell

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli/cmd/bundle"
)

// screenLines is the most lines a help text should have.
const screenLines = 40

// helpWidth is the width of flag descriptions, in columns.
const helpWidth = 110

// WriteHelp writes the help of cmd, examples first, for they answer most questions. If it is longer
// than a screen, the flags that another help explains are only named.
func WriteHelp(w io.Writer, cmd *cobra.Command) {
	text := helpText(cmd, false)
	if bytes.Count(text, []byte{'\n'}) > screenLines {
		text = helpText(cmd, true)
	}
	if at := bytes.LastIndex(text, []byte("also: -q")); at > 0 {
		room := screenLines - bytes.Count(text, []byte{'\n'})
		text = slices.Insert(text, at, []byte(keysHelp(cmd, room))...)
	}
	_, _ = w.Write(text) // the writer remembers a failure
}

// keysHelp explains the keys of the bundles of cmd, as many as fit into the given number of lines.
func keysHelp(cmd *cobra.Command, lines int) string {
	text := ""
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if b, ok := f.Value.(*bundle.Bundle); ok {
			if more := b.Usage(f.Name, helpWidth); strings.Count(text+more, "\n") <= lines {
				text += more
			}
		}
	})
	return text
}

func helpText(cmd *cobra.Command, brief bool) []byte {
	var b bytes.Buffer
	if cmd.Example != "" {
		fmt.Fprintf(&b, "examples:\n%s\n\n", strings.TrimRight(cmd.Example, "\n"))
	}
	text := cmp.Or(cmd.Long, cmd.Short+".")
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
		b.WriteString(flagHelp(cmd, brief))
	}
	if cmd.HasParent() {
		b.WriteString("also: -q, -v, --no-color, --progress MODE (capcli --help)\n")
	}
	return b.Bytes()
}

// explained is the annotation of a flag that the help of another command explains too; its value is
// that command.
const explained = "explained by"

// ExplainedBy marks the flags names of cmd as explained by the help of command.
func ExplainedBy(cmd *cobra.Command, command string, names ...string) {
	for _, n := range names {
		if err := cmd.Flags().SetAnnotation(n, explained, []string{command}); err != nil {
			panic(err) // the flag does not exist: a bug
		}
	}
}

// flagHelp explains the flags of cmd. If brief is true, marked flags are only named.
func flagHelp(cmd *cobra.Command, brief bool) string {
	full := pflag.NewFlagSet("", pflag.ContinueOnError)
	named := map[string]string{}
	var order []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || brief && f.Name == "help" {
			return // a reader of the help knows the flag
		}
		by := f.Annotations[explained]
		if !brief || len(by) == 0 || cmd.CommandPath() == by[0] {
			full.AddFlag(f)
			return
		}
		if named[by[0]] == "" {
			order = append(order, by[0])
		}
		named[by[0]] += " --" + f.Name
	})
	text := ""
	if full.HasAvailableFlags() {
		text = "\nflags:\n" + full.FlagUsagesWrapped(helpWidth) + "\n"
	}
	for _, by := range order {
		text += alsoLines(fmt.Sprintf("also:%s (%s --help)", named[by], strings.TrimPrefix(by, "capcli ")))
	}
	return text
}

// alsoLines wraps a line of flag names at helpWidth.
func alsoLines(text string) string {
	out := ""
	for len(text) > helpWidth {
		cut := strings.LastIndexByte(text[:helpWidth], ' ')
		if cut < 1 {
			break
		}
		out, text = out+text[:cut]+"\n", "     "+text[cut:]
	}
	return out + text + "\n"
}

func usageLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	_, args, own := strings.Cut(cmd.Use, " ")
	switch {
	case cmd.HasAvailableSubCommands() && own: // the command runs on its own too
		return line + " " + args + " [flags]\n       " + line + " COMMAND"
	case cmd.HasAvailableSubCommands() && cmd.LocalNonPersistentFlags().Lookup("out") != nil:
		return line + " [flags]\n       " + line + " COMMAND"
	case cmd.HasAvailableSubCommands():
		return line + " COMMAND"
	case own:
		line += " " + args
	}
	return line + " [flags]"
}
