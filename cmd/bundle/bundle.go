// Package bundle gives commands flags that take KEY=VALUE pairs, so that a command with many settings
// shows few flags. A pair sets a hidden flag, which keeps working under its old spelling.
package bundle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"capcli"
)

// RenamedTo is the annotation of a hidden flag that has a new spelling. Its value is that spelling.
const RenamedTo = "renamed to"

// Rename hides the flag old of cmd, which works as before. A note names the new spelling, which
// starts with a flag of cmd.
func Rename(cmd *cobra.Command, old, spelling string) {
	f := cmd.Flags().Lookup(old)
	f.Hidden = true
	f.Annotations = map[string][]string{RenamedTo: {spelling}}
}

// NoteRenamed notes the new spelling of each flag of cmd that was given in its old spelling.
func NoteRenamed(note func(text string), cmd *cobra.Command) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if to := f.Annotations[RenamedTo]; len(to) == 1 {
			note(fmt.Sprintf("--%s is now %s; the old spelling goes in the next release", f.Name, to[0]))
		}
	})
}

// inSentence lists the words that may follow a flag in the text of a message; any other word is the
// flag's value.
var inSentence = strings.Fields("a adds alone and as both changes chooses counts cuts each estimates for give gives go goes in is lets names needs on or overrides say says takes tells to too tries wants with writes")

// NewSpelling rewrites the renamed flags in text in their new spelling. Flags are those of cmd, and
// after "capcli COMMAND" those of that command.
func NewSpelling(cmd *cobra.Command, text string) string {
	if cmd == nil || !strings.Contains(text, "--") {
		return text
	}
	calls := strings.Split(text, "capcli ")
	for i, call := range calls {
		of := cmd
		if c, _, err := cmd.Root().Find(strings.Fields(call)); i > 0 && err == nil && c.Name() != "plan" && c.HasParent() {
			of = c
		}
		calls[i] = flagInText.ReplaceAllStringFunc(call, func(found string) string {
			part := flagInText.FindStringSubmatch(found)
			if f := of.Flags().Lookup(part[1]); f != nil && len(f.Annotations[RenamedTo]) > 0 {
				return inNewSpelling(f.Annotations[RenamedTo][0], part[2])
			}
			return found
		})
	}
	return strings.Join(calls, "capcli ")
}

// NameFlags returns a hint about fields of a request with each field=value as --field value, where
// field is a flag of cmd. A hint that has flags is returned as it is.
func NameFlags(cmd *cobra.Command, hint string) string {
	if cmd == nil || strings.Contains(hint, "--") {
		return hint
	}
	return fieldInHint.ReplaceAllStringFunc(hint, func(found string) string {
		part := fieldInHint.FindStringSubmatch(found)
		if cmd.Flags().Lookup(part[2]) == nil {
			return found
		}
		return part[1] + "--" + part[2] + " " + part[3]
	})
}

// fieldInHint matches what is before a field, the field and its value.
var fieldInHint = regexp.MustCompile(`(^|\s)([a-z][a-z-]*)=('[^']*'|\S+)`)

// inNewSpelling writes a flag's new spelling followed by word. word begins with a space, or is
// empty; it becomes the value where the spelling takes one and word is no word of the sentence.
func inNewSpelling(spelling, word string) string {
	name, _, valued := strings.Cut(spelling, "=…")
	switch {
	case valued && word != "" && word[1] != '"' && !slices.Contains(inSentence, strings.Trim(word, " ,:;)")):
		return name + "=" + word[1:]
	case valued:
		return name + word
	}
	return strings.TrimRight(spelling, "ADEHIORSTU= ") + word // without the placeholder of the value
}

// flagInText matches a flag in a message and the word after it.
var flagInText = regexp.MustCompile(`--([a-z][a-z-]*[a-z])( [^-\s]\S*)?`)

// Key is one KEY=VALUE of a bundle: its name, and the name of the hidden flag that holds its value.
type Key [2]string

func (k Key) name() string { return k[0] }
func (k Key) flag() string { return k[1] }

// SameKeys returns keys with the same names as their flags.
func SameKeys(flags ...string) []Key {
	return capcli.Map(flags, func(f string) Key { return Key{f, f} })
}

// Bundle is a flag that takes KEY=VALUE pairs, or KEY alone for a switch. Each pair sets a hidden
// flag, which is the old spelling of that pair.
type Bundle struct {
	flags *pflag.FlagSet
	keys  []Key
	other pflag.Value // takes a value without a key; nil where every value needs a key
	list  bool        // pairs are separated by commas
}

// Add adds the flag name to cmd, whose keys set flags that cmd already has. If cmd already
// has a flag of that name, that flag takes the values without a key. list says that pairs are
// separated by commas.
func Add(cmd *cobra.Command, name, usage string, list bool, keys ...Key) {
	b := &Bundle{flags: cmd.Flags(), keys: keys, list: list}
	for _, k := range keys {
		f := b.flags.Lookup(k.flag())
		spelling := "--" + name + " " + k.name()
		if f.NoOptDefVal == "" {
			spelling += "=…"
		}
		Rename(cmd, k.flag(), spelling)
	}
	if f := b.flags.Lookup(name); f != nil {
		b.other, f.Value, f.Usage = f.Value, b, usage
		if f.DefValue == "[]" {
			f.DefValue = ""
		}
	} else {
		b.flags.Var(b, name, usage)
	}
	if err := cmd.RegisterFlagCompletionFunc(name, b.complete); err != nil {
		panic(err) // the flag does not exist: a bug
	}
}

// Type is the kind of value, for help.
func (b *Bundle) Type() string { return "KEY=VALUE" }

// String returns the value without a key.
func (b *Bundle) String() string {
	if b.other == nil {
		return ""
	}
	return b.other.String()
}

// Find returns the key at the start of part, with its value. ok is false where part starts with no
// key, or with a key without a value that is no switch.
func (b *Bundle) Find(part string) (k Key, value string, ok bool) {
	name, value, has := strings.Cut(part, "=")
	name = strings.TrimSpace(name)
	i := slices.IndexFunc(b.keys, func(k Key) bool { return k.name() == name })
	if i < 0 {
		return Key{}, "", false
	}
	k = b.keys[i]
	if !has {
		value = b.flags.Lookup(k.flag()).NoOptDefVal
		return k, value, value != ""
	}
	return k, value, true
}

// Set takes pairs. In a list, a part after a comma that is no pair belongs to the value before it.
func (b *Bundle) Set(text string) error {
	parts := []string{text}
	if b.list {
		parts = nil
		for _, p := range strings.Split(text, ",") {
			_, _, ok := b.Find(p)
			if named := strings.Contains(p, "=") && b.other == nil; ok || named || len(parts) == 0 {
				parts = append(parts, p)
				continue
			}
			parts[len(parts)-1] += "," + p
		}
	}
	for _, p := range parts {
		if err := b.setPart(p); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bundle) setPart(part string) error {
	k, value, ok := b.Find(part)
	switch {
	case !ok && b.other != nil:
		return b.other.Set(part)
	case !ok:
		name, _, _ := strings.Cut(part, "=")
		var names []string
		for _, k := range b.keys {
			if k.name() == name {
				return fmt.Errorf("%s=VALUE", name)
			}
			names = append(names, k.name())
		}
		return capcli.CheckChoice("key", name, names)
	}
	f := b.flags.Lookup(k.flag())
	if k.flag() == "map" && k.name() != "map" {
		value = k.name() + "=" + value
	}
	given := f.Changed
	if err := b.flags.Set(k.flag(), value); err != nil {
		return err
	}
	if to := f.Annotations[RenamedTo]; !given {
		f.Annotations[RenamedTo] = append(to[:1:1], "given so") // suppresses the note of NoteRenamed
	}
	return nil
}

// complete offers the keys, and after "KEY=" the values of that key.
func (b *Bundle) complete(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	at := 0
	if b.list {
		at = strings.LastIndexByte(typed, ',') + 1
	}
	name, begun, has := strings.Cut(typed[at:], "=")
	var out []string
	for _, k := range b.keys {
		f := b.flags.Lookup(k.flag())
		if !has {
			sign := "="
			if f.NoOptDefVal != "" {
				sign = ""
			}
			_, about := pflag.UnquoteUsage(f)
			out = append(out, typed[:at]+k.name()+sign+"\t"+about)
			continue
		}
		values, ok := cmd.GetFlagCompletionFunc(k.flag())
		if k.name() != name || !ok {
			continue
		}
		list, _ := values(cmd, args, begun)
		for _, v := range list {
			out = append(out, typed[:at]+name+"="+v)
		}
	}
	if b.other != nil && !has {
		return out, cobra.ShellCompDirectiveNoSpace
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// Usage returns the usage of the keys of b, a bundle called name, in lines of at most width columns.
func (b *Bundle) Usage(name string, width int) string {
	full := pflag.NewFlagSet("", pflag.ContinueOnError)
	full.SortFlags = false
	for _, k := range b.keys {
		f := *b.flags.Lookup(k.flag())
		if k.flag() == "map" && k.name() != "map" {
			continue // the usage of the bundle explains it
		}
		f.Name, f.Hidden = k.name(), false
		full.AddFlag(&f)
	}
	text := fmt.Sprintf("of --%s:\n", name)
	for line := range strings.Lines(full.FlagUsagesWrapped(width)) {
		line = line[min(6, len(line)):]
		if k, ok := strings.CutPrefix(line, "--"); ok {
			name, rest, _ := strings.Cut(k, " ")
			line = "  " + name + " " + rest
			if !strings.HasPrefix(rest, " ") {
				line = "  " + name + "=" + rest
			}
		}
		text += line
	}
	return text + "\n"
}
