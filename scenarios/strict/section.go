package strict

import "go.yaml.in/yaml/v3"

// Section is a part of a form whose fields are those of a T.
type Section[T any] struct {
	Name   string                // in messages: "capacity.failures"
	Start  T                     // the values of fields that are left out
	Fields func(*T) []Field      // the fields that it may have
	Needs  []string              // those that it must have
	Check  func(o *Object, v *T) // finds faults over several fields; may be nil
}

// Read reads the section into v. It returns nil when n is no map.
func (s *Section[T]) Read(d *Decoder, n *yaml.Node, v *T) *Object {
	o := d.ReadObject(n, s.Name, s.Fields(v))
	o.Require(s.Needs...)
	if o != nil && s.Check != nil {
		s.Check(o, v)
	}
	return o
}

// Reader reads the section into v.
func (s *Section[T]) Reader(v *T) Reader {
	return func(d *Decoder, n *yaml.Node) { s.Read(d, n, v) }
}

// Pointer reads the section into a new T.
func (s *Section[T]) Pointer(dst **T) Reader {
	return func(d *Decoder, n *yaml.Node) {
		v := s.Start
		*dst = &v
		s.Read(d, n, &v)
	}
}

// List reads a list of at most limit sections.
func (s *Section[T]) List(dst *[]T, limit int, what string) Reader {
	return func(d *Decoder, n *yaml.Node) {
		d.ReadList(n, limit, what, func(_ int, n *yaml.Node) {
			v := s.Start
			if s.Read(d, n, &v) != nil {
				*dst = append(*dst, v)
			}
		})
	}
}

// Value reads a single value by parse. want names what the field takes, and form also
// how it is written, for a value that parse does not accept.
func Value[T any](dst *T, want, form string, parse func(text string) (T, bool)) Reader {
	return func(d *Decoder, n *yaml.Node) {
		text, ok := d.ReadScalar(n, want)
		if !ok {
			return
		}
		v, ok := parse(text)
		if !ok {
			d.FaultWant(n, form)
			return
		}
		*dst = v
	}
}
