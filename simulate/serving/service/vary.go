package service

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"capcli"
)

// Change is another value of a field of a service; "" takes the field out.
type Change struct{ Field, Value string }

// With returns the service with single fields changed, read again as a whole: what follows from the
// changed fields follows anew. The error is a *capcli.InputError of the first fault.
func (s *Spec) With(changes ...Change) (*Spec, error) {
	if s.node == nil || s.node.Kind != yaml.MappingNode {
		return nil, &capcli.InputError{Text: fmt.Sprintf("the service %s was not read from a map of fields", capcli.Quoted(s.Name))}
	}
	root := *s.node
	root.Content = slices.Clone(s.node.Content)
	for _, c := range changes {
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value == c.Field {
				root.Content = slices.Delete(root.Content, i, i+2)
				break
			}
		}
		if c.Value != "" {
			root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: c.Field}, &yaml.Node{Kind: yaml.ScalarNode, Value: c.Value})
		}
	}
	text, err := yaml.Marshal(&root)
	if err != nil {
		return nil, fmt.Errorf("changing the service %s: %w", s.Name, err)
	}
	out, err := Parse(s.Name, text)
	if fault, ok := errors.AsType[*capcli.InputError](err); ok {
		return nil, &capcli.InputError{Field: fault.Field, Text: fault.Text, Hint: fault.Hint}
	}
	return out, err
}

// Text returns the fields of the service as they were read, in YAML.
func (s *Spec) Text() (string, error) {
	if s.node == nil {
		return s.Name, nil
	}
	text, err := yaml.Marshal(s.node)
	return string(text), err
}
