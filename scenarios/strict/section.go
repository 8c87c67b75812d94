package strict

import "go.yaml.in/yaml/v3"

// Section is a part of a form, read into a T.
type Section[T any] struct {
	Name   string                // name in messages: "capacity.failures"
	Start  T                     // default values of the fields
	Fields func(*T) []Field      // the fields of the section
	Needs  []string              // names of the required fields
	Check  func(o *Object, v *T) // checks several fields together; may be nil
}

// Read reads the section into v. It returns nil if n is no map.
func (s *Section[T]) Read(d *Decoder, n *yaml.Node, v *T) *Object {
	o := d.ReadObject(n, s.Name, s.Fields(v))
	o.Require(s.Needs...)
	if o != nil && s.Check != nil {
		checks := d.checks
		d.checks = true
		s.Check(o, v)
		d.checks = checks
	}
	return o
}

// Reader returns a reader of the section into v.
func (s *Section[T]) Reader(v *T) Reader {
	return func(d *Decoder, n *yaml.Node) { s.Read(d, n, v) }
}

// Pointer returns a reader of the section into a new T.
func (s *Section[T]) Pointer(dst **T) Reader {
	return func(d *Decoder, n *yaml.Node) {
		v := s.Start
		*dst = &v
		s.Read(d, n, &v)
	}
}

// List returns a reader of a list of at most limit sections.
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

// List returns a reader of a list of at most limit values, each of which read reads.
func List[T any](dst *[]T, limit int, what string, read func(*T) Reader) Reader {
	return func(d *Decoder, n *yaml.Node) {
		d.ReadList(n, limit, what, func(_ int, n *yaml.Node) {
			var v T
			read(&v)(d, n)
			*dst = append(*dst, v)
		})
	}
}

// Value returns a reader of a single value by parse. want describes the value for a node that is no
// single value; form describes it, and how to write it, for a text that parse rejects.
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
