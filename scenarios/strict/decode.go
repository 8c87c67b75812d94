package strict

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
)

// Decoder reads the tree of a file and collects its faults.
type Decoder struct {
	Form      *Form             // of the file
	Overrides []string          // --set texts; faults name a node of line -1, -2 … by its override
	Lines     []string          // of the file, for messages; ReadTree sets them
	Elsewhere map[string]string // fields of other sections and the section of each, for hints
	Context   any               // lookup data of the caller's readers

	probes  []*probe // where only the Shape of readers is wanted
	checks  bool     // within the Check of a section, whose needs may depend on other fields
	faults  []Fault
	more    int      // number of faults past the first maxFaults
	steps   []string // path of the current field: "capacity", "[0]", "gpus"
	allowed string
}

// Form is a kind of file: the version in its first line, what it is called, the command
// that writes a template, and a hint for a file that is too long.
type Form struct{ Version, What, Template, TooLong string }

// Reader reads the value of a field.
type Reader func(d *Decoder, n *yaml.Node)

// Field is a field of a section: its name, its documentation and its reader. It is an alias of an
// unnamed type, so that tables in other packages need no field names.
type Field = struct {
	Name, Doc string
	Read      Reader
}

// entry is a field of the file.
type entry struct{ key, value *yaml.Node }

// Object is a section of the file, for checks over several fields.
type Object struct {
	Decoder *Decoder
	Node    *yaml.Node
	path    string
	entries map[string]entry
	near    []string // known fields that unknown ones were probably meant to be
}

func (d *Decoder) path() string {
	var b strings.Builder
	for i, s := range d.steps {
		if i > 0 && !strings.HasPrefix(s, "[") {
			b.WriteByte('.')
		}
		b.WriteString(s)
	}
	return b.String()
}

// FieldName returns the name of the field that is being read.
func (d *Decoder) FieldName() string { return d.steps[len(d.steps)-1] }

// FaultCount returns the number of faults so far.
func (d *Decoder) FaultCount() int { return len(d.faults) + d.more }

// Enter adds a field or a list element to the path of faults.
func (d *Decoder) Enter(step string) { d.steps = append(d.steps, step) }

// Leave removes the last step that Enter added.
func (d *Decoder) Leave() { d.steps = d.steps[:len(d.steps)-1] }

// ReadObject reads the section called name. It returns nil if n is no map.
func (d *Decoder) ReadObject(n *yaml.Node, name string, fields []Field) *Object {
	if n.Kind != yaml.MappingNode {
		d.FaultWant(n, "fields such as "+fields[0].Name)
		return nil
	}
	o := &Object{Decoder: d, Node: n, path: d.path(), entries: map[string]entry{}}
	if s := d.probing(n); s != nil {
		d.describeObject(s, name, fields)
		return o
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if d.DecimalComma(n, i) || !d.key(o, key) {
			continue
		}
		at := slices.IndexFunc(fields, func(f Field) bool { return f.Name == key.Value })
		if at < 0 {
			d.rejectUnknown(o, key, name, fields)
			continue
		}
		o.entries[key.Value] = entry{key, value}
		d.Enter(key.Value)
		if value.Kind == yaml.ScalarNode && value.Tag == "!!null" && value.Line >= 0 {
			d.Fault(key, "%s has no value; give it one or leave the field out", key.Value)
		} else if value.Kind != yaml.AliasNode { // already a fault
			fields[at].Read(d, value)
		}
		d.Leave()
	}
	return o
}

// key checks a key by itself. It reports false after a fault.
func (d *Decoder) key(o *Object, key *yaml.Node) bool {
	switch first, twice := o.entries[key.Value]; {
	case key.Tag == "!!merge":
		d.Fault(key, "a merge key (<<) is not allowed here; write the fields out")
	case key.Kind != yaml.ScalarNode:
		d.Fault(key, "a field's name must be a word")
	case twice && first.key.Line > 0:
		d.Fault(key, "%s is given twice, first in line %d", capcli.Quoted(key.Value), first.key.Line)
	case twice:
		d.Fault(key, "%s is given twice", capcli.Quoted(key.Value))
	default:
		return true
	}
	return false
}

// DecimalComma reports, with a fault, whether entry i is the rest of a decimal comma: YAML reads
// {price: 3,90 USD} as price 3 and a field called "90 USD".
func (d *Decoder) DecimalComma(n *yaml.Node, i int) bool {
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
	d.Enter(name.Value)
	d.FaultWithin(prev, 0, len(prev.Value)+1+digits, "%s %q: YAML ends the value at the comma; %s", name.Value, prev.Value+","+key.Value, better)
	d.Leave()
	return true
}

func (d *Decoder) rejectUnknown(o *Object, key *yaml.Node, name string, fields []Field) {
	names := capcli.Map(fields, func(f Field) string { return f.Name })
	hint := ""
	if near := capcli.Nearest(key.Value, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
		o.near = append(o.near, near)
	} else if of := d.Elsewhere[key.Value]; of != "" {
		hint = fmt.Sprintf("; it is one of %s, and this is %s", of, name)
	}
	d.Fault(key, "unknown field %s%s", capcli.Quoted(key.Value), hint)
	if d.allowed == "" {
		d.allowed = fmt.Sprintf("fields allowed under %s: %s (%s)", name, strings.Join(names, ", "), d.Form.Template)
	}
}

// ReadMap calls each with the entries of a map, of which there are one to most. It adds a fault where n is none.
func (d *Decoder) ReadMap(n *yaml.Node, want string, most int, each func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		d.FaultWant(n, want)
		return
	}
	if len(n.Content)/2 > most {
		d.Fault(n, "at most %d entries are allowed", most)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if d.DecimalComma(n, i) {
			continue
		}
		d.Enter(n.Content[i].Value)
		each(n.Content[i], n.Content[i+1])
		d.Leave()
	}
}

// ReadList reads each element of a list of at most limit elements.
func (d *Decoder) ReadList(n *yaml.Node, limit int, what string, read func(i int, n *yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		d.FaultWant(n, "a list of "+what)
		return
	}
	if s := d.probing(n); s != nil {
		d.describeList(s, limit, read)
		return
	}
	if len(n.Content) > limit {
		d.Fault(n, "a list of %d %s; at most %d are allowed", len(n.Content), what, limit)
		return
	}
	for i, c := range n.Content {
		d.Enter(fmt.Sprintf("[%d]", i))
		if c.Kind != yaml.AliasNode {
			read(i, c)
		}
		d.Leave()
	}
}

// FaultWant adds a fault: what was wanted instead of n.
func (d *Decoder) FaultWant(n *yaml.Node, what string) {
	found := capcli.Quoted(n.Value)
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
	d.Fault(n, "%swant %s, found %s", name, what, found)
}

// Has reports whether the section has the field.
func (o *Object) Has(name string) bool {
	_, ok := o.entries[name]
	return ok
}

// Value returns the value of a field; nil if it is not given.
func (o *Object) Value(name string) *yaml.Node { return o.entries[name].value }

// Fault adds a fault at the value of a field, or at the section if the field is not given.
func (o *Object) Fault(name, format string, args ...any) {
	n := o.Node
	if e, ok := o.entries[name]; ok {
		n = e.value
	}
	o.note(n, name, format, args...)
}

// FaultName adds a fault at the name of a field.
func (o *Object) FaultName(name, format string, args ...any) {
	o.note(o.entries[name].key, name, format, args...)
}

// FaultEach adds a fault at the name of each given field of names. The first verb of format is the
// name.
func (o *Object) FaultEach(names []string, format string, args ...any) {
	for _, name := range names {
		if o.Has(name) {
			o.FaultName(name, format, append([]any{name}, args...)...)
		}
	}
}

func (o *Object) note(n *yaml.Node, name, format string, args ...any) {
	before := len(o.Decoder.faults)
	o.Decoder.Fault(n, format, args...)
	if len(o.Decoder.faults) > before {
		o.Decoder.faults[before].Path = o.pathOf(name)
	}
}

func (o *Object) pathOf(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// FaultMissing adds a fault for a missing field, unless an unknown field was probably meant to be
// it.
func (o *Object) FaultMissing(name, format string, args ...any) {
	if !slices.Contains(o.near, name) {
		o.Fault(name, format, args...)
	}
}

// Require adds a fault for each of the fields that is missing.
func (o *Object) Require(names ...string) {
	if o == nil {
		return
	}
	if !o.Decoder.checks {
		o.require(names)
	}
	for _, name := range names {
		if !o.Has(name) {
			o.FaultMissing(name, "%s is missing", name)
		}
	}
}

// RequireWith adds a fault with the text format if a field is missing.
func (o *Object) RequireWith(name, format string, args ...any) {
	o.require([]string{name})
	if !o.Has(name) {
		o.FaultMissing(name, format, args...)
	}
}

// IsClean reports whether the fields have no fault.
func (o *Object) IsClean(names ...string) bool {
	if o.Decoder.more > 0 {
		return false
	}
	for _, f := range o.Decoder.faults {
		for _, name := range names {
			path := o.pathOf(name)
			if f.Path == path || strings.HasPrefix(f.Path, path+".") || strings.HasPrefix(f.Path, path+"[") {
				return false
			}
		}
	}
	return true
}

// RequireVersion adds a fault if the line with the version is missing.
func (o *Object) RequireVersion(what string) {
	o.RequireWith("capcli", "the line capcli: %s is missing; it says which form of %s this is", o.Decoder.Form.Version, what)
}

// Version reads and checks the version line.
func Version(d *Decoder, n *yaml.Node) {
	want := d.Form.Version
	if d.value(n, Single{Want: want, Words: []string{want}}) {
		return
	}
	if s, ok := d.ReadScalar(n, want); ok && s != want {
		d.Fault(n, "this is capcli %s; here the program reads %s", capcli.Quoted(s), want)
	}
}
