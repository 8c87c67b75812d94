package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Maker makes schemas of Go types. Each struct with a name becomes one definition, to which every use
// refers, so types that hold themselves are described too.
type Maker struct {
	// Prefix begins each reference: "#/$defs/", or "#/components/schemas/" of an OpenAPI document.
	Prefix string
	// Closed forbids members that a schema does not name.
	Closed bool
	// Defs are the definitions made so far, by name.
	Defs map[string]*Schema

	types  map[string]reflect.Type // the type of each definition
	faults []string
}

// NewMaker returns a maker of references that begin with prefix.
func NewMaker(prefix string) *Maker {
	return &Maker{Prefix: prefix, Defs: map[string]*Schema{}, types: map[string]reflect.Type{}}
}

// Fault returns an error that names each type that could not be described; nil where there is none. A
// type that writes its own JSON is described in known.go.
func (m *Maker) Fault() error {
	if len(m.faults) == 0 {
		return nil
	}
	return fmt.Errorf("no schema of %s", strings.Join(m.faults, "; "))
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// Describe returns the schema of the JSON that encoding/json writes of a value of type t. For a struct with a
// name that is a reference to a definition.
func (m *Maker) Describe(t reflect.Type) *Schema {
	if t.Kind() == reflect.Pointer {
		return orNull(m.Describe(t.Elem()))
	}
	if make, ok := known[t]; ok {
		return make(m)
	}
	pointer := reflect.PointerTo(t)
	switch {
	case t.Implements(jsonMarshaler) || pointer.Implements(jsonMarshaler):
		m.faults = append(m.faults, t.String()+", which writes its own JSON")
		return &Schema{}
	case t.Implements(textMarshaler) || pointer.Implements(textMarshaler):
		return ofType("string")
	}
	switch t.Kind() {
	case reflect.Struct:
		return m.structure(t)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && t.Kind() == reflect.Slice {
			return &Schema{Type: Types{"string"}, Comment: "bytes in base64"}
		}
		s := &Schema{Type: Types{"array"}, Items: m.Describe(t.Elem())}
		if t.Kind() == reflect.Array {
			s.MinItems, s.MaxItems = t.Len(), t.Len()
		}
		return s
	case reflect.Map:
		return &Schema{Type: Types{"object"}, Additional: m.Describe(t.Elem())}
	case reflect.Interface:
		return &Schema{}
	default:
		return m.basic(t)
	}
}

func (m *Maker) basic(t reflect.Type) *Schema {
	switch t.Kind() {
	case reflect.String:
		return ofType("string")
	case reflect.Bool:
		return ofType("boolean")
	case reflect.Float32, reflect.Float64:
		return ofType("number")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return ofType("integer")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Schema{Type: Types{"integer"}, Minimum: number("0")}
	default:
		m.faults = append(m.faults, t.String()+", which JSON does not have")
		return &Schema{}
	}
}

// structure returns a reference to the definition of a struct, or its schema where it has no name.
func (m *Maker) structure(t reflect.Type) *Schema {
	if t.Name() == "" {
		return m.object(t)
	}
	name := definitionName(t)
	if was, ok := m.types[name]; ok && was != t {
		m.faults = append(m.faults, fmt.Sprintf("%s and %s, which share the name %s", was, t, name))
	}
	if m.Defs[name] == nil {
		m.Defs[name], m.types[name] = &Schema{}, t // for a type that holds itself
		*m.Defs[name] = *m.object(t)
	}
	return &Schema{Ref: m.Prefix + name}
}

// definitionName returns the name of a type's definition, in characters that references and OpenAPI allow:
// simulate.plan.mix.Result.
func definitionName(t reflect.Type) string {
	folder := strings.TrimPrefix(strings.TrimPrefix(t.PkgPath(), modulePath()), "/")
	name := t.Name()
	if folder != "" {
		name = folder + "." + name
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		case r == '/':
			return '.'
		}
		return '_'
	}, name)
}

// object returns the schema of a struct: its fields, and those of the structs that it embeds.
func (m *Maker) object(t reflect.Type) *Schema {
	s := &Schema{Type: Types{"object"}, Description: comment(t, ""), Properties: Properties{}}
	m.addFields(s, t)
	if m.Closed {
		s.Additional = Nothing()
	}
	return s
}

// addFields adds the fields of t to s. A field hides one of the same name that an embedded struct has, as
// in encoding/json. Those of an embedded pointer are left out where it is nil, so none is required.
func (m *Maker) addFields(s *Schema, t reflect.Type) {
	embedded := []reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-" && options == "":
			continue
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct && known[inner] == nil:
			embedded = append(embedded, f.Type)
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		s.add(name, m.field(t, f, options), !omits(options))
	}
	for _, e := range embedded {
		required := len(s.Required)
		if e.Kind() == reflect.Pointer {
			m.addFields(s, e.Elem())
			s.Required = s.Required[:required]
			continue
		}
		m.addFields(s, e)
	}
}

// omits reports whether the options of a json tag leave out an empty member.
func omits(options string) bool {
	list := strings.Split(options, ",")
	return slices.Contains(list, "omitempty") || slices.Contains(list, "omitzero")
}

// add adds a member, unless there is one of that name.
func (s *Schema) add(name string, p *Schema, required bool) {
	if slices.ContainsFunc(s.Properties, func(x Property) bool { return x.Name == name }) {
		return
	}
	s.Properties = append(s.Properties, Property{name, p})
	if required {
		s.Required = append(s.Required, name)
	}
}

func (m *Maker) field(t reflect.Type, f reflect.StructField, options string) *Schema {
	list := strings.Split(options, ",")
	typ := f.Type
	if typ.Kind() == reflect.Pointer && slices.Contains(list, "omitempty") {
		typ = typ.Elem() // left out where it is nil
	}
	s := m.Describe(typ)
	if slices.Contains(list, "string") {
		s = ofType("string")
	}
	if f.Tag.Get("schema") == "nullable" {
		s = orNull(s)
	}
	if text := comment(t, f.Name); text != "" {
		described := *s // a definition's own description stays
		described.Description = text
		return &described
	}
	return s
}

// orNull returns a schema that also allows null.
func orNull(s *Schema) *Schema {
	if slices.Contains(s.Type, "null") || s.Ref == "" && len(s.Type) == 0 && len(s.AnyOf) == 0 {
		return s // allowed already
	}
	if len(s.Type) > 0 && s.Const == nil && s.Enum == nil {
		with := *s
		with.Type = append(slices.Clone(s.Type), "null")
		return &with
	}
	return &Schema{AnyOf: []*Schema{s, ofType("null")}}
}

func ofType(name string) *Schema { return &Schema{Type: Types{name}} }

func number(text string) *json.Number {
	n := json.Number(text)
	return &n
}

func float(v float64) *json.Number { return number(strconv.FormatFloat(v, 'g', -1, 64)) }
