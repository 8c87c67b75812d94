package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios"
	"capcli/scenarios/events"
	"capcli/scenarios/kinds"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
	"capcli/simulate/serving/service"
)

// dialect is the value of $schema.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is a JSON Schema. The zero value allows everything.
type Schema struct {
	Dialect     string `json:"$schema,omitempty"`
	ID          string `json:"$id,omitempty"`
	Ref         string `json:"$ref,omitempty"`
	Comment     string `json:"$comment,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`

	Type      Types        `json:"type,omitempty"`
	Const     any          `json:"const,omitempty"`
	Enum      []any        `json:"enum,omitempty"`
	Pattern   string       `json:"pattern,omitempty"`
	Format    string       `json:"format,omitempty"`
	MinLength int          `json:"minLength,omitempty"`
	MaxLength int          `json:"maxLength,omitempty"`
	Minimum   *json.Number `json:"minimum,omitempty"`
	Maximum   *json.Number `json:"maximum,omitempty"`

	Items    *Schema `json:"items,omitempty"`
	MinItems int     `json:"minItems,omitempty"`
	MaxItems int     `json:"maxItems,omitempty"`

	Properties        Properties `json:"properties,omitempty"`
	PatternProperties Properties `json:"patternProperties,omitempty"`
	Required          []string   `json:"required,omitempty"`
	PropertyNames     *Schema    `json:"propertyNames,omitempty"`
	// Additional is the rule on members that Properties does not name: nil allows them, Nothing
	// forbids them, another schema describes them.
	Additional *Schema `json:"additionalProperties,omitempty"`

	AnyOf []*Schema `json:"anyOf,omitempty"`
	Not   *Schema   `json:"not,omitempty"`

	Defs map[string]*Schema `json:"$defs,omitempty"` // encoding/json writes a map in the order of its keys

	nothing bool
}

// Nothing is the schema that allows no value. Its JSON is false.
func Nothing() *Schema { return &Schema{nothing: true} }

// MarshalJSON writes s; Nothing is false.
func (s *Schema) MarshalJSON() ([]byte, error) {
	if s.nothing {
		return []byte("false"), nil
	}
	type plain Schema
	return marshal((*plain)(s))
}

// Types are the types that a value may have. One is written as a string.
type Types []string

// MarshalJSON writes one type as a string, several as an array.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Property is a named member of an object.
type Property struct {
	Name   string
	Schema *Schema
}

// Properties are the members of an object, in their order.
type Properties []Property

// MarshalJSON writes an object in the order of p.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(x.Name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(x.Schema)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal is json.Marshal without the escapes of HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// inputs are the YAML files that the program reads, by their first line.
var inputs = []struct {
	id, doc string
	shape   func() strict.Shape
}{
	{"scenario/v1", "a scenario: capacity, jobs, policy, prices (capcli scenarios init)", shapeOf("scenario/v1")},
	{"portfolio/v1", "a portfolio of commitments (capcli bill, plan review)", shapeOf("portfolio/v1")},
	{"market/v1", "GPU models and what can be bought (capcli plan joint)", shapeOf("market/v1")},
	{"events/v1", "planned events and holidays (capcli forecast events init)", events.Shape},
	{"kinds/v1", "kinds of work: what is known of jobs, and what is assumed of spot GPUs (capcli import --kinds)", kinds.Shape},
	{"service/v1", "a service: its model, replicas, promise, requests and scaler (capcli service init)", service.Shape},
	{"prices/v1", "prices of your own (capcli prices import)", prices.Shape},
}

func shapeOf(version string) func() strict.Shape {
	return func() strict.Shape {
		s, ok := scenarios.Shape(version)
		if !ok {
			panic("no shape of " + version)
		}
		return s
	}
}

func init() {
	for _, in := range inputs {
		name := NameOf(in.id)
		if slices.Contains(Documents.Names(), name) {
			name += "_file" // prices is also a document
		}
		Documents.Add(name, in.doc, Document{ID: in.id, Make: func(*Maker) *Schema { return ofShape(in.shape()) }})
	}
}

// ofShape returns the schema of what a strict reader accepts. A YAML file has no comments in its data
// model, and a value in quotes is read like one without, so a number may be a string too.
func ofShape(s strict.Shape) *Schema {
	forms := capcli.Map(s.Values, ofSingle)
	if s.List != nil {
		forms = append(forms, &Schema{Type: Types{"array"}, Items: ofShape(*s.List), MaxItems: s.MaxLen})
	}
	for _, f := range s.Objects {
		forms = append(forms, ofFields(f))
	}
	forms = slices.CompactFunc(forms, func(a, b *Schema) bool { return reflect.DeepEqual(a, b) })
	switch len(forms) {
	case 0:
		return Nothing()
	case 1:
		return forms[0]
	}
	return &Schema{AnyOf: forms}
}

func ofFields(f strict.Fields) *Schema {
	s := &Schema{Type: Types{"object"}, Required: f.Required, Properties: Properties{}, Additional: Nothing()}
	for _, x := range f.Known {
		p := *ofShape(x.Shape)
		p.Description = x.Doc
		s.Properties = append(s.Properties, Property{x.Name, &p})
	}
	if f.Any != nil {
		s.Properties, s.PatternProperties = nil, Properties{{f.Names, ofShape(*f.Any)}}
	}
	return s
}

const (
	wholePattern    = `^\s*[-+]?[0-9]+\s*$`
	fractionPattern = `^\s*[-+]?([0-9][0-9_]*(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?\s*$`
	lengthPattern   = `^\s*([0-9]+|([0-9]+[smhdw])+)\s*$`
)

func ofSingle(v strict.Single) *Schema {
	s := &Schema{Type: Types{"string", "number", "boolean"}, Comment: v.Want}
	if v.Words != nil {
		return &Schema{Enum: words(v.Words)}
	}
	switch v.Kind {
	case strict.AnyText:
	case strict.Line:
		s.Pattern, s.MaxLength = `\S`, v.MaxLen
	case strict.Whole:
		s.Type, s.Pattern = Types{"integer", "string"}, wholePattern
		s.Minimum, s.Maximum = float(v.Lo), float(v.Hi)
	case strict.Fraction:
		s.Type, s.Pattern = Types{"number", "string"}, fractionPattern
		s.Minimum, s.Maximum = float(v.Lo), float(v.Hi)
	case strict.Truth:
		return &Schema{Enum: []any{true, false, "true", "false"}}
	case strict.Length:
		s.Type, s.Pattern = Types{"string", "integer"}, lengthPattern
		s.Minimum, s.Maximum = float(v.Lo), float(float64(strict.Longest))
	}
	return s
}

// words returns the values that YAML may read a word as: 42 is a number, true a truth.
func words(list []string) []any {
	var out []any
	for _, w := range list {
		out = append(out, w)
		if n, err := strconv.ParseInt(w, 10, 64); err == nil {
			out = append(out, n)
		}
		if b, err := strconv.ParseBool(w); err == nil && strings.ToLower(w) == strconv.FormatBool(b) {
			out = append(out, b)
		}
	}
	return out
}
