package strict

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// Shape describes what a reader accepts, as far as one value alone decides it: single values, a list, and
// objects, one for each form. A Shape without any of them accepts nothing.
type Shape struct {
	Values  []Single
	List    *Shape   // its elements
	MaxLen  int      // of the list
	Objects []Fields // a value may be any one of them
}

// Single describes a single value.
type Single struct {
	Want   string   // for people
	Kind   Kind     // Text accepts any single value
	Words  []string // the only ones; nil is any
	Lo, Hi float64  // of a Whole and a Fraction; Lo of a Time in seconds
	MaxLen int      // characters of a Text; 0 is any number
}

// Kind is a kind of a single value.
type Kind uint8

// The kinds.
const (
	AnyText  Kind = iota // a single value in a form of its own
	Line                 // a text that is not empty
	Whole                // a whole number
	Fraction             // a number
	Truth                // true or false
	Length               // a length of time
)

// Fields describes an object: its fields, or the values of any fields.
type Fields struct {
	Name     string
	Known    []FieldShape
	Required []string
	Names    string // regular expression of the names where any is allowed; "" where only those of Known are
	Any      *Shape // and their value
}

// FieldShape describes a field.
type FieldShape struct {
	Name, Doc string
	Shape     Shape
}

// probe collects a Shape while a reader reads nodes that stand for any value.
type probe struct {
	node *yaml.Node // what the reader was given; its parts have their own probe
	out  *Shape
}

// maxProbe is the deepest level that Describe looks into.
const maxProbe = 24

// Describe returns what read, the reader of a whole file, accepts. It gives the reader an empty map, and
// each of the readers below an empty value, list and map in turn; each takes down what it would accept. So
// readers must stand any input, as they must anyway.
func Describe(form *Form, context any, read Reader) Shape {
	d := &Decoder{Form: form, Context: context, steps: []string{"field"}, probes: []*probe{{}}}
	var out Shape
	d.probe(&out, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, read)
	return out
}

func (d *Decoder) describe(read Reader) Shape {
	var out Shape
	if len(d.probes) > maxProbe {
		return out
	}
	for _, n := range []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str"}, {Kind: yaml.SequenceNode, Tag: "!!seq"}, {Kind: yaml.MappingNode, Tag: "!!map"}} {
		d.probe(&out, n, read)
	}
	return out
}

// probe has read take down in out what it does with n.
func (d *Decoder) probe(out *Shape, n *yaml.Node, read Reader) {
	d.probes = append(d.probes, &probe{n, out})
	read(d, n)
	d.probes = d.probes[:len(d.probes)-1]
}

// IsDescribing reports whether only a Shape is wanted, so that n stands for any value.
func (d *Decoder) IsDescribing(n *yaml.Node) bool { return d.probing(n) != nil }

// probing returns what takes down the shape of n; nil where n is of a file.
func (d *Decoder) probing(n *yaml.Node) *Shape {
	if len(d.probes) == 0 {
		return nil
	}
	if p := d.probes[len(d.probes)-1]; p.node == n {
		return p.out
	}
	return nil
}

// Accepts takes down that the reader of n accepts these words too, where only a Shape is wanted.
func (d *Decoder) Accepts(n *yaml.Node, words ...string) {
	if s := d.probing(n); s != nil && n.Kind == yaml.ScalarNode {
		s.Values = append(s.Values, Single{Words: words})
	}
}

// AcceptsText takes down that the reader of n accepts a single value in a form of its own, where only a
// Shape is wanted.
func (d *Decoder) AcceptsText(n *yaml.Node, want string) {
	if s := d.probing(n); s != nil && n.Kind == yaml.ScalarNode {
		s.Values = append(s.Values, Single{Want: want})
	}
}

// AcceptsMap takes down that n is a map from names, a regular expression, to what read accepts. It reports
// whether only a Shape is wanted.
func (d *Decoder) AcceptsMap(n *yaml.Node, names string, read Reader) bool {
	s := d.probing(n)
	if s == nil {
		return false
	}
	if n.Kind == yaml.MappingNode {
		value := d.describe(read)
		s.Objects = append(s.Objects, Fields{Names: names, Any: &value})
	}
	return true
}

// AcceptsForms takes down that n is an object of one of several forms, each with a name and its fields. It
// reports whether only a Shape is wanted.
func (d *Decoder) AcceptsForms(n *yaml.Node, key string, forms []string, fields func(form string) []Field, required ...string) bool {
	s := d.probing(n)
	if s == nil {
		return false
	}
	if n.Kind != yaml.MappingNode {
		return true
	}
	for _, form := range forms {
		d.ReadObject(n, form, fields(form)).Require(append(required, key)...)
		last := &s.Objects[len(s.Objects)-1]
		for i := range last.Known {
			if last.Known[i].Name == key {
				last.Known[i].Shape = Shape{Values: []Single{{Words: []string{form}}}}
			}
		}
	}
	return true
}

// value takes down a single value. It reports whether only a Shape is wanted.
func (d *Decoder) value(n *yaml.Node, v Single) bool {
	s := d.probing(n)
	if s != nil && n.Kind == yaml.ScalarNode {
		s.Values = append(s.Values, v)
	}
	return s != nil && n.Kind == yaml.ScalarNode
}

// describeObject takes down the fields of an object.
func (d *Decoder) describeObject(s *Shape, name string, fields []Field) {
	f := Fields{Name: name}
	for _, x := range fields {
		d.Enter(x.Name)
		f.Known = append(f.Known, FieldShape{x.Name, x.Doc, d.describe(x.Read)})
		d.Leave()
	}
	s.Objects = append(s.Objects, f)
}

// describeList takes down the elements of a list.
func (d *Decoder) describeList(s *Shape, limit int, read func(i int, n *yaml.Node)) {
	d.Enter("[0]")
	element := d.describe(func(_ *Decoder, n *yaml.Node) { read(0, n) })
	d.Leave()
	s.List, s.MaxLen = &element, limit
}

// require takes down that the object needs fields.
func (o *Object) require(names []string) {
	s := o.Decoder.probing(o.Node)
	if s == nil || len(s.Objects) == 0 {
		return
	}
	last := &s.Objects[len(s.Objects)-1]
	for _, name := range names {
		if !slices.Contains(last.Required, name) {
			last.Required = append(last.Required, name)
		}
	}
}
