package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
)

// decoder reads a tree into a Scenario and collects what is wrong with it.
type decoder struct {
	faults  []Fault
	more    int // faults past the first maxFaults
	lines   []string
	sets    []string // overrides, by which nodes of line -1, -2 … came
	steps   []string // where the reading is: "capacity", "[0]", "gpus"
	allowed string

	form      *form             // of the file
	elsewhere map[string]string // fields of other sections than the one being read, and which
	context   any               // what the caller's own readers look things up in
}

// form is a kind of file: the version in its first line, what it is called, the
// command that writes a template, and what else to say of a file that is too long.
type form struct{ version, what, init, tooLong string }

// reader takes the value of one field.
type reader func(d *decoder, n *yaml.Node)

// field is one field that a section may have.
type field struct {
	name string
	doc  string // one line, for the template
	read reader
}

// entry is a field as it stands in the file.
type entry struct{ key, value *yaml.Node }

// object is a section as it stands in the file, for checks over several fields.
type object struct {
	d       *decoder
	node    *yaml.Node
	path    string
	entries map[string]entry
	near    []string // fields that unknown ones were probably meant to be
}

func (d *decoder) path() string {
	var b strings.Builder
	for i, s := range d.steps {
		if i > 0 && !strings.HasPrefix(s, "[") {
			b.WriteByte('.')
		}
		b.WriteString(s)
	}
	return b.String()
}

// step is the field that is being read.
func (d *decoder) step() string { return d.steps[len(d.steps)-1] }

// count is how many faults were found so far.
func (d *decoder) count() int { return len(d.faults) + d.more }

func (d *decoder) enter(step string) { d.steps = append(d.steps, step) }
func (d *decoder) leave()            { d.steps = d.steps[:len(d.steps)-1] }

// object reads the section called name. It gives nil when n is no map.
func (d *decoder) object(n *yaml.Node, name string, fields []field) *object {
	if n.Kind != yaml.MappingNode {
		d.want(n, "fields such as "+fields[0].name)
		return nil
	}
	o := &object{d: d, node: n, path: d.path(), entries: map[string]entry{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if d.comma(n, i) || !d.key(o, key) {
			continue
		}
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == key.Value })
		if at < 0 {
			d.unknown(o, key, name, fields)
			continue
		}
		o.entries[key.Value] = entry{key, value}
		d.enter(key.Value)
		if value.Kind == yaml.ScalarNode && value.Tag == "!!null" && value.Line >= 0 {
			d.at(key, "%s has no value; give it one or leave the field out", key.Value)
		} else if value.Kind != yaml.AliasNode { // already a fault
			fields[at].read(d, value)
		}
		d.leave()
	}
	return o
}

// key checks a key by itself.
func (d *decoder) key(o *object, key *yaml.Node) bool {
	switch first, twice := o.entries[key.Value]; {
	case key.Tag == "!!merge":
		d.at(key, "a merge key (<<) is not allowed here; write the fields out")
	case key.Kind != yaml.ScalarNode:
		d.at(key, "a field's name must be a word")
	case twice && first.key.Line > 0:
		d.at(key, "%s is given twice, first in line %d", show(key.Value), first.key.Line)
	case twice:
		d.at(key, "%s is given twice", show(key.Value))
	default:
		return true
	}
	return false
}

// comma tells whether the i-th entry is what stood after a decimal comma:
// {price: 3,90 USD} is price 3 and a field called "90 USD".
func (d *decoder) comma(n *yaml.Node, i int) bool {
	key, value := n.Content[i], n.Content[i+1]
	if i == 0 || value.Tag != "!!null" || value.Value != "" || key.Kind != yaml.ScalarNode || key.Value == "" || key.Value[0] < '0' || key.Value[0] > '9' {
		return false
	}
	name, prev := n.Content[i-2], n.Content[i-1]
	if prev.Tag != "!!int" || prev.Line != key.Line {
		return false
	}
	digits := len(key.Value) - len(strings.TrimLeft(key.Value, "0123456789"))
	better := "write " + prev.Value + "." + key.Value
	if digits == 3 {
		better = fmt.Sprintf("write %s%s, or %s.%s", prev.Value, key.Value, prev.Value, key.Value)
	}
	d.enter(name.Value)
	d.within(prev, 0, len(prev.Value)+1+digits, "%s %q: YAML ends the value at the comma; %s", name.Value, prev.Value+","+key.Value, better)
	d.leave()
	return true
}

func (d *decoder) unknown(o *object, key *yaml.Node, name string, fields []field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	hint := ""
	if near := capcli.Nearest(key.Value, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
		o.near = append(o.near, near)
	} else if of := d.elsewhere[key.Value]; of != "" {
		hint = fmt.Sprintf("; it is one of %s, and this is %s", of, name)
	}
	d.at(key, "unknown field %s%s", show(key.Value), hint)
	if d.allowed == "" {
		d.allowed = fmt.Sprintf("fields allowed under %s: %s (%s)", name, strings.Join(names, ", "), d.form.init)
	}
}

// list reads each element of a list of at most limit.
func (d *decoder) list(n *yaml.Node, limit int, what string, read func(i int, n *yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		d.want(n, "a list of "+what)
		return
	}
	if len(n.Content) > limit {
		d.at(n, "a list of %d %s; at most %d are allowed", len(n.Content), what, limit)
		return
	}
	for i, c := range n.Content {
		d.enter(fmt.Sprintf("[%d]", i))
		if c.Kind != yaml.AliasNode {
			read(i, c)
		}
		d.leave()
	}
}

// want notes that n is not what it should be.
func (d *decoder) want(n *yaml.Node, what string) {
	found := show(n.Value)
	switch {
	case n.Kind == yaml.MappingNode:
		found = "fields {…}"
	case n.Kind == yaml.SequenceNode:
		found = "a list"
	case n.Tag == "!!null":
		found = "nothing"
	}
	name := ""
	if len(d.steps) > 0 {
		name = d.steps[len(d.steps)-1] + ": "
		if strings.HasPrefix(name, "[") {
			name = ""
		}
	}
	d.at(n, "%swant %s, found %s", name, what, found)
}

// show quotes a text from outside, not too much of it.
func show(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// has tells whether the section has the field.
func (o *object) has(name string) bool {
	_, ok := o.entries[name]
	return ok
}

// value gives the value of a field, nil where it is not given.
func (o *object) value(name string) *yaml.Node { return o.entries[name].value }

// on notes a fault at the value of a field, or at the section where it is not
// given.
func (o *object) on(name, format string, args ...any) {
	n := o.node
	if e, ok := o.entries[name]; ok {
		n = e.value
	}
	o.note(n, name, format, args...)
}

// onKey notes a fault at the name of a field.
func (o *object) onKey(name, format string, args ...any) {
	o.note(o.entries[name].key, name, format, args...)
}

func (o *object) note(n *yaml.Node, name, format string, args ...any) {
	before := len(o.d.faults)
	o.d.at(n, format, args...)
	if len(o.d.faults) > before {
		o.d.faults[before].Path = o.pathOf(name)
	}
}

func (o *object) pathOf(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// missing notes that a field is not there, unless it probably is, under a
// wrong name.
func (o *object) missing(name, format string, args ...any) {
	if !slices.Contains(o.near, name) {
		o.on(name, format, args...)
	}
}

// need notes the fields that are not there but must be.
func (o *object) need(names ...string) {
	if o == nil {
		return
	}
	for _, name := range names {
		if !o.has(name) {
			o.missing(name, "%s is missing", name)
		}
	}
}

// clean tells whether the fields were read without a fault.
func (o *object) clean(names ...string) bool {
	if o.d.more > 0 {
		return false
	}
	for _, f := range o.d.faults {
		for _, name := range names {
			path := o.pathOf(name)
			if f.Path == path || strings.HasPrefix(f.Path, path+".") || strings.HasPrefix(f.Path, path+"[") {
				return false
			}
		}
	}
	return true
}

// version1 checks the first line.
func version1(d *decoder, n *yaml.Node) {
	want := d.form.version
	if s, ok := d.scalar(n, want); ok && s != want {
		d.at(n, "this is capcli %s; here the program reads %s", show(s), want)
	}
}
