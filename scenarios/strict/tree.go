package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Limits of a file.
const (
	// MaxBytes is the largest size of a file.
	MaxBytes = 1 << 20
	// MaxDepth is the largest depth of a file's tree, in levels.
	MaxDepth  = 64
	maxFaults = 1000 // faults kept; further ones are only counted
)

// ReadTree parses b, which must be one YAML document; nil after a fault. Anything but plain YAML is
// a fault.
func (d *Decoder) ReadTree(b []byte) *yaml.Node {
	what, version := d.Form.What, d.Form.Version
	d.Lines = linesOf(b)
	switch {
	case len(b) > MaxBytes:
		d.FaultFile("the file has %d bytes; %s has at most %d%s", len(b), what, MaxBytes, d.Form.TooLong)
		return nil
	case len(bytes.TrimSpace(b)) == 0:
		d.FaultFile("the file is empty; %s begins with capcli: %s", what, version)
		return nil
	case bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b):
		d.FaultFile("the file is not text in UTF-8; %s is YAML and begins with capcli: %s", what, version)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	err := dec.Decode(&doc)
	if err != nil && !errors.Is(err, io.EOF) {
		d.syntax(err)
		return nil
	}
	if err != nil || len(doc.Content) == 0 {
		d.FaultFile("the file has nothing but comments; %s begins with capcli: %s", what, version)
		return nil
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		d.Fault(&second, "a second document begins here; %s is one", what)
	} else if !errors.Is(err, io.EOF) {
		d.syntax(err)
	}
	root := doc.Content[0]
	if !d.CheckPlain(root, 0) {
		return nil
	}
	return root
}

// syntax adds the error of the YAML parser, which stops at the first. If a tab in the indentation
// explains the error, the fault says so.
func (d *Decoder) syntax(err error) {
	for i, l := range d.Lines {
		body := strings.TrimLeft(l, " \t")
		if tab := strings.IndexByte(l[:len(l)-len(body)], '\t'); tab >= 0 && body != "" && body[0] != '#' {
			d.faults = append(d.faults, Fault{Line: i + 1, Col: tab + 1, Text: "a tab indents this line; YAML wants spaces"})
			return
		}
	}
	text := strings.TrimPrefix(strings.SplitN(err.Error(), "\n", 2)[0], "yaml: ")
	line := 0
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			line, _ = strconv.Atoi(number) // 0, the file as a whole, if it is no number
			text = what
		}
	}
	f := Fault{Line: min(line, len(d.Lines)), Text: "not valid YAML: " + text}
	if f.Line > 0 {
		l := d.Lines[f.Line-1]
		f.Col = len(l) - len(strings.TrimLeft(l, " ")) + 1
		f.Len = utf8.RuneCountInString(strings.TrimSpace(l))
		f.Text += " (the cause may stand a line before)"
	}
	d.faults = append(d.faults, f)
}

// CheckPlain adds a fault for anything but maps, lists and values. It reports false if the tree is
// too deep to be read.
func (d *Decoder) CheckPlain(n *yaml.Node, depth int) bool {
	if depth > MaxDepth {
		d.Fault(n, "more than %d levels deep", MaxDepth)
		return false
	}
	switch {
	case n.Kind == yaml.AliasNode:
		d.Fault(n, "an alias (*%s) is not allowed here; write the value out", n.Value)
		return true
	case n.Anchor != "":
		d.Fault(n, "an anchor (&%s) is not allowed here; write the value out where it is wanted", n.Anchor)
	case n.Style&yaml.TaggedStyle != 0:
		d.Fault(n, "a tag (%s) is not allowed here; write the value alone", n.ShortTag())
	}
	for _, c := range n.Content {
		if !d.CheckPlain(c, depth+1) {
			return false
		}
	}
	return true
}

// Fault adds a fault at the place of n.
func (d *Decoder) Fault(n *yaml.Node, format string, args ...any) {
	d.FaultWithin(n, 0, d.length(n), format, args...)
}

// FaultWithin adds a fault at length characters of n's text, starting at offset.
func (d *Decoder) FaultWithin(n *yaml.Node, offset, length int, format string, args ...any) {
	f := Fault{Line: n.Line, Col: n.Column + offset, Len: length, Path: d.path(), Text: fmt.Sprintf(format, args...)}
	if last := len(d.Lines); n.Line > last && last > 0 { // an empty value may stand past the end
		f.Line, f.Col = last, utf8.RuneCountInString(d.Lines[last-1])+1
	}
	if n.Line < 0 {
		f.Set, f.Line, f.Col = d.Overrides[-n.Line-1], 0, 0
	}
	d.AddFault(f)
}

// FaultFile adds a fault of the file as a whole.
func (d *Decoder) FaultFile(format string, args ...any) {
	d.faults = append(d.faults, Fault{Text: fmt.Sprintf(format, args...)})
}

// FaultLine adds a fault of a whole line.
func (d *Decoder) FaultLine(line int, format string, args ...any) {
	d.AddFault(Fault{Line: line, Col: 1, Text: fmt.Sprintf(format, args...)})
}

// AddFault adds a fault. It keeps the first maxFaults and counts the others.
func (d *Decoder) AddFault(f Fault) {
	if d.FaultCount() >= maxFaults {
		d.more++
		return
	}
	d.faults = append(d.faults, f)
}

// length returns the number of characters of n on its first line; 1 for a map, a list or a value
// written in another form.
func (d *Decoder) length(n *yaml.Node) int {
	if n.Kind != yaml.ScalarNode || n.Line < 1 || n.Line > len(d.Lines) || len(d.faults) >= maxFaults {
		return 1
	}
	rest := skipChars(d.Lines[n.Line-1], n.Column-1)
	if rest == "" {
		return 1
	}
	if q := rest[0]; q == '"' || q == '\'' {
		if end := strings.IndexByte(rest[1:], q); end >= 0 {
			return utf8.RuneCountInString(rest[:end+2])
		}
		return 1
	}
	if strings.HasPrefix(rest, n.Value) {
		return max(1, utf8.RuneCountInString(n.Value))
	}
	return 1
}

// breaks replaces every line break of YAML 1.1 by a line feed.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// linesOf returns the lines of a file as the YAML parser counts them; nil if the file is too long.
func linesOf(b []byte) []string {
	if len(b) > MaxBytes {
		return nil
	}
	return strings.Split(breaks.Replace(strings.TrimPrefix(string(b), "\ufeff")), "\n")
}

// skipChars returns s without its first n characters.
func skipChars(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[i:]
		}
		n--
	}
	return ""
}

// Child returns the value of a field of a map, or nil.
func Child(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}
