package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// screenLines is how long a help may be.
const screenLines = 40

// helpWidth is how wide the explanations of flags are.
const helpWidth = 110

// writeHelp writes the help of cmd: examples first, for they answer most
// questions, and short enough for one screen: where it is not, the flags that
// another help explains are only named.
func writeHelp(w io.Writer, cmd *cobra.Command) {
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

// keysHelp explains the keys of flags of cmd, of as many as go into so many lines.
func keysHelp(cmd *cobra.Command, lines int) string {
	text := ""
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if b, ok := f.Value.(*bundle); ok {
			if more := b.help(f.Name); strings.Count(text+more, "\n") <= lines {
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
		b.WriteString(flagHelp(cmd, brief))
	}
	if cmd.HasParent() {
		b.WriteString("also: -q, -v, --no-color, --progress MODE (capcli --help)\n")
	}
	return b.Bytes()
}

// explained is the annotation of a flag that the help of another command
// explains too; its value says which.
const explained = "explained by"

// explainedBy marks the flags called names.
func explainedBy(cmd *cobra.Command, command string, names ...string) {
	for _, n := range names {
		if err := cmd.Flags().SetAnnotation(n, explained, []string{command}); err != nil {
			panic(err) // the flag is not there: a slip in the code
		}
	}
}

// flagHelp explains the flags of cmd; brief only names those that are marked.
func flagHelp(cmd *cobra.Command, brief bool) string {
	full := pflag.NewFlagSet("", pflag.ContinueOnError)
	named := map[string]string{}
	var order []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || brief && f.Name == "help" {
			return // whoever reads this knows it
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

// alsoLines breaks a long line that names flags.
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
	case cmd.HasAvailableSubCommands() && own: // it does something itself
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
