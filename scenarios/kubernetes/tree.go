package kubernetes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
)

// Limits of a file of objects.
const (
	// MaxBytes is the largest size of a file.
	MaxBytes   = 256 << 20
	maxYAML    = 32 << 20 // of a file that is no JSON
	maxObjects = 2_000_000
	maxList    = 1_000_000
	maxText    = 1 << 20
)

// documents returns the documents of a file, YAML or JSON. Fields without a value are left out, as
// Kubernetes does.
func documents(d *strict.Decoder, file string, b []byte) ([]*yaml.Node, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	text := bytes.TrimSpace(b)
	wrong := func(line int, text, hint string) error {
		return &capcli.InputError{File: file, Line: line, Text: text, Hint: hint}
	}
	const hint = "give Kubernetes objects as YAML, or as JSON: kubectl get clusterqueues,localqueues,workloads -A -o json"
	switch {
	case len(text) == 0:
		return nil, wrong(0, "the file is empty", hint)
	case len(b) > MaxBytes:
		return nil, wrong(0, fmt.Sprintf("the file has over %d MiB", MaxBytes>>20), "divide it")
	case bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b):
		return nil, wrong(0, "the file is not text in UTF-8", hint)
	case text[0] == '{' || text[0] == '[':
		return jsonDocuments(file, b)
	case len(b) > maxYAML:
		return nil, wrong(0, fmt.Sprintf("the file is YAML of over %d MiB", maxYAML>>20), "give large lists as JSON: kubectl get … -o json")
	}
	d.Lines = strings.Split(string(b), "\n")
	var out []*yaml.Node
	for dec := yaml.NewDecoder(bytes.NewReader(b)); ; {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line, text := yamlPlace(err)
			return nil, wrong(line, "not valid YAML: "+text, hint)
		}
		for _, n := range doc.Content {
			if !d.CheckPlain(n, 0) {
				return nil, nil
			}
			if prune(n); !isNull(n) {
				out = append(out, n)
			}
		}
	}
	if len(out) == 0 {
		return nil, wrong(0, "the file has nothing but comments", hint)
	}
	return out, nil
}

// yamlPlace returns the line of an error of the YAML parser, and its text.
func yamlPlace(err error) (int, string) {
	text := strings.TrimPrefix(strings.SplitN(err.Error(), "\n", 2)[0], "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			line, _ := strconv.Atoi(number)
			return line, what
		}
	}
	return 0, text
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// prune removes the fields of maps that have no value.
func prune(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		kept := n.Content[:0]
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !isNull(n.Content[i+1]) {
				kept = append(kept, n.Content[i], n.Content[i+1])
			}
		}
		n.Content = kept
	}
	for _, c := range n.Content {
		prune(c)
	}
}

// jsonReader makes a tree of the tokens of a JSON text.
type jsonReader struct {
	dec    *json.Decoder
	text   []byte
	starts []int // offset of each line
}

// jsonDocuments returns the values of a JSON text, one after another. The items of an array count as
// values of their own.
func jsonDocuments(file string, b []byte) ([]*yaml.Node, error) {
	r := &jsonReader{dec: json.NewDecoder(bytes.NewReader(b)), text: b, starts: []int{0}}
	r.dec.UseNumber()
	for i, c := range b {
		if c == '\n' {
			r.starts = append(r.starts, i+1)
		}
	}
	var out []*yaml.Node
	for {
		n, err := r.value(0)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			line, _ := r.place(int(r.dec.InputOffset()))
			text := strings.TrimPrefix(err.Error(), "json: ")
			if errors.Is(err, io.ErrUnexpectedEOF) {
				text = "the text ends within a value"
			}
			return nil, &capcli.InputError{File: file, Line: line, Text: "not valid JSON: " + text, Hint: "is the file cut short? write it again with kubectl get … -o json"}
		case n.Kind == yaml.SequenceNode:
			out = append(out, n.Content...)
		case !isNull(n):
			out = append(out, n)
		}
	}
}

func (r *jsonReader) place(offset int) (line, column int) {
	i, ok := slices.BinarySearch(r.starts, offset)
	if !ok {
		i--
	}
	return i + 1, offset - r.starts[i] + 1
}

// node returns a node at the next token.
func (r *jsonReader) node() *yaml.Node {
	at := int(r.dec.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	n.Line, n.Column = r.place(at)
	return n
}

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	if depth > strict.MaxDepth {
		return nil, fmt.Errorf("more than %d levels deep", strict.MaxDepth)
	}
	n := r.node()
	token, err := r.dec.Token()
	if err != nil {
		if depth > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		n.Kind = yaml.MappingNode
		if t == '[' {
			n.Kind = yaml.SequenceNode
		}
		return n, r.content(n, depth)
	case string:
		n.Tag, n.Value = "!!str", t
	case json.Number:
		n.Tag, n.Value = "!!int", t.String()
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(t)
	default:
		n.Tag = "!!null"
	}
	return n, nil
}

// content reads the fields of a map or the items of a list.
func (r *jsonReader) content(n *yaml.Node, depth int) error {
	for r.dec.More() {
		var key *yaml.Node
		if n.Kind == yaml.MappingNode {
			var err error
			if key, err = r.value(depth + 1); err != nil {
				return err
			}
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		switch {
		case key == nil:
			n.Content = append(n.Content, v)
		case !isNull(v):
			n.Content = append(n.Content, key, v)
		}
	}
	if _, err := r.dec.Token(); err != nil {
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	return nil
}
