package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
)

// override applies the overrides to the tree in order. Nodes from override i get the line -(i+1),
// which identifies the override in faults. Pools of size 0 are removed at the end; until then they
// count in list indexes. It returns the indexes of the pools that are left.
func override(d *strict.Decoder, root *yaml.Node, overrides []string) (left []int) {
	var emptied []*yaml.Node
	for i, text := range overrides {
		place := &yaml.Node{Kind: yaml.ScalarNode, Line: -(i + 1)}
		steps, value, err := parseOverride(text)
		if err != nil {
			d.Fault(place, "%s", err)
			continue
		}
		mark(value, place.Line)
		if !d.CheckPlain(value, len(steps)) {
			continue
		}
		if pool := resized(root, steps); pool != nil {
			emptied = slices.DeleteFunc(emptied, func(n *yaml.Node) bool { return n == pool })
			if value.Kind == yaml.ScalarNode && value.Value == "0" {
				emptied = append(emptied, pool)
				continue
			}
		}
		if err := put(root, steps, value, ""); err != nil {
			d.Fault(place, "%s", err)
		}
	}
	pools := strict.Child(root, "capacity")
	if pools == nil {
		return nil
	}
	for i, n := range pools.Content {
		if !slices.Contains(emptied, n) {
			left = append(left, i)
		}
	}
	pools.Content = slices.DeleteFunc(pools.Content, func(n *yaml.Node) bool { return slices.Contains(emptied, n) })
	return left
}

// parseOverride reads path=value.
func parseOverride(text string) ([]string, *yaml.Node, error) {
	path, text, ok := strings.Cut(text, "=")
	if !ok || strings.TrimSpace(path) == "" {
		return nil, nil, errors.New("write path=value: capacity[0].gpus=72 or policy=easy")
	}
	steps, err := splitPath(strings.TrimSpace(path))
	if err != nil {
		return nil, nil, err
	}
	value, err := parseValue(text)
	return steps, value, err
}

// sizeFields are the fields with the size of a pool.
var sizeFields = []string{"gpus", "nodes", "max_gpus"}

// resized returns the pool whose size the path names, or nil.
func resized(root *yaml.Node, steps []string) *yaml.Node {
	if len(steps) != 3 || steps[0] != "capacity" || !slices.Contains(sizeFields, steps[2]) {
		return nil
	}
	pools := strict.Child(root, "capacity")
	if pools == nil || pools.Kind != yaml.SequenceNode {
		return nil
	}
	i, err := element(pools, steps[1], "capacity")
	if err != nil {
		return nil // put reports the error
	}
	return pools.Content[i]
}

// parseValue reads the right side of an override.
func parseValue(text string) (*yaml.Node, error) {
	var doc yaml.Node
	if len(text) > strict.MaxBytes {
		return nil, errors.New("the value is over 1 MiB")
	}
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("the value is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("the value is empty; write null to take the field away")
	}
	return doc.Content[0], nil
}

func mark(n *yaml.Node, line int) {
	n.Line, n.Column = line, 0
	for _, c := range n.Content {
		mark(c, line)
	}
}

// splitPath cuts "capacity[0].gpus" into "capacity", "[0]" and "gpus".
func splitPath(path string) ([]string, error) {
	var steps []string
	for part := range strings.SplitSeq(path, ".") {
		name, index, has := strings.Cut(part, "[")
		if name == "" && !has || len(steps) > strict.MaxDepth {
			return nil, fmt.Errorf("%s is no path; write capacity[0].gpus", capcli.Quoted(path))
		}
		if name != "" {
			steps = append(steps, name)
		}
		for has {
			var number string
			if number, index, has = strings.Cut(index, "]"); !has {
				return nil, fmt.Errorf("%s has a [ without a ]", capcli.Quoted(path))
			}
			if _, err := strconv.ParseUint(number, 10, 31); err != nil {
				return nil, fmt.Errorf("[%s] is no place in a list; write [0] for the first", number)
			}
			steps = append(steps, "["+number+"]")
			if index != "" && index[0] != '[' {
				return nil, fmt.Errorf("%s: want a dot after ]", capcli.Quoted(path))
			}
			_, index, has = strings.Cut(index, "[")
		}
	}
	return steps, nil
}

// shorthand are the sections that may be a single word, with the field that the word sets.
var shorthand = map[string]string{"policy": "name", "jobs": "from"}

// put sets the value at the path below n; null removes it. above is the name of n.
func put(n *yaml.Node, steps []string, value *yaml.Node, above string) error {
	step := steps[0]
	if n.Kind == yaml.SequenceNode {
		i, err := element(n, step, above)
		if err != nil {
			return err
		}
		if len(steps) > 1 {
			return put(n.Content[i], steps[1:], value, step)
		}
		if value.Tag == "!!null" {
			n.Content = slices.Delete(n.Content, i, i+1)
		} else {
			n.Content[i] = value
		}
		return nil
	}
	if field, ok := shorthand[above]; ok && n.Kind == yaml.ScalarNode {
		old := *n
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: field, Line: old.Line, Column: old.Column}
		*n = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: old.Line, Column: old.Column, Content: []*yaml.Node{key, &old}}
	}
	if strings.HasPrefix(step, "[") {
		return fmt.Errorf("%s is no list, so there is no %s in it", capcli.Quoted(above), step)
	}
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("%s has no fields, so there is no %s in it", above, capcli.Quoted(step))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != step {
			continue
		}
		switch {
		case len(steps) > 1:
			return put(n.Content[i+1], steps[1:], value, step)
		case value.Tag == "!!null":
			n.Content = slices.Delete(n.Content, i, i+2)
		default:
			n.Content[i+1] = value
		}
		return nil
	}
	if value.Tag == "!!null" {
		return nil // nothing to remove
	}
	if len(steps) > 1 {
		if strings.HasPrefix(steps[1], "[") {
			return fmt.Errorf("there is no %s", step)
		}
		inner := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: value.Line}
		if err := put(inner, steps[1:], value, step); err != nil {
			return err
		}
		value = inner
	}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: step, Line: value.Line}, value)
	return nil
}

// element returns the index of the list element that step names by number or by name.
func element(n *yaml.Node, step, above string) (int, error) {
	if number, ok := strings.CutPrefix(step, "["); ok {
		i, _ := strconv.Atoi(strings.TrimSuffix(number, "]")) // digits: splitPath checked them
		if i < len(n.Content) {
			return i, nil
		}
		return 0, fmt.Errorf("there is no %s%s: %s has %d, from [0]", above, step, above, len(n.Content))
	}
	var names []string
	for i, c := range n.Content {
		name := strict.Child(c, "name")
		if name == nil {
			name = strict.Child(c, "kind") // the name of a pool that states none
		}
		if name != nil && name.Value == step {
			return i, nil
		}
		if name != nil {
			names = append(names, name.Value)
		}
	}
	hint := capcli.DidYouMean(step, names)
	return 0, fmt.Errorf("%s has nothing called %s%s", above, capcli.Quoted(step), hint)
}
