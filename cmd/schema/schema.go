package schema

import (
	"bytes"
	"encoding/json"
)

// Dialect is the value of $schema.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

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
