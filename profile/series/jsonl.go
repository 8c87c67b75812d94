package series

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// jsonNames are the names of the fields of a flat object, in order.
func jsonNames(line []byte) []string {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []string
	for d.More() && len(out) < maxColumns {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return out
		}
		out = append(out, name)
		var skip json.RawMessage
		if d.Decode(&skip) != nil {
			return out
		}
	}
	return out
}

// readJSONL reads one object a line with the fields of a long table.
func readJSONL(r io.Reader, o Options) (*Table, error) {
	t := newTable(o, Instant)
	src := newSource(r)
	put := putter{t: t, clock: clock{zone: o.Zone, later: o.DSTLater}}
	var names []string
	var l layout
	for {
		line, err := src.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, t.readError(src.line, err)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(line, &object); err != nil {
			return nil, t.fault(src.line, "", "expected a JSON object, found "+quote(string(line)), "write one object on each line")
		}
		if names == nil {
			names = jsonNames(line)
			if l, err = t.find(names, src.line, o); err != nil {
				return nil, err
			}
			if len(l.wide) > 0 {
				return nil, t.fault(src.line, "", "expected the fields unique_id, ds and capacity in each object", "write one object for each series and stamp")
			}
			put.begin(names, l, o)
		}
		for k, more := range t.More {
			put.more[k] = jsonText(object[more.value])
		}
		id := put.id(l.ids, func(i int) []byte { return []byte(jsonText(object[names[i]])) })
		if err := put.row(src.line, id, jsonText(object[put.time]), jsonText(object[put.value])); err != nil {
			return nil, err
		}
	}
	return put.end()
}

// jsonText is a scalar as it would stand in a table.
func jsonText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
