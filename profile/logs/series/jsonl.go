package series

import (
	"bytes"
	"encoding/json"
	"errors"

	"capcli"
)

// jsonNames returns the names of the fields of the JSON object line, in order; nil where line
// does not begin an object.
func jsonNames(line []byte) []string {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []string
	for d.More() && len(out) < capcli.MaxColumns {
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

// readJSONL reads a long table in which each line is one JSON object, or one that is an array of objects.
func readJSONL(text *capcli.LineReader, o Options) (*Table, error) {
	t := newTable(o, Instant)
	put := newPutter(t, o)
	var names []string
	var l layout
	err := t.eachObject(text, func(line []byte, n int) (err error) {
		line = bytes.TrimSpace(line)
		var object map[string]json.RawMessage
		if err := json.Unmarshal(line, &object); err != nil {
			return t.fault(n, "", "expected a JSON object, found "+quote(string(line)), "write one object on each line")
		}
		if names == nil {
			names = jsonNames(line)
			if l, err = t.find(names, n, o); err != nil {
				return err
			}
			if len(l.wide) > 0 {
				return t.fault(n, "", "expected the fields unique_id, ds and capacity in each object", "write one object for each series and stamp")
			}
			put.begin(names, l, o)
		}
		for k, more := range t.More {
			put.more[k] = jsonText(object[more.value])
		}
		id := put.id(l.ids, func(i int) []byte { return []byte(jsonText(object[names[i]])) })
		return put.row(n, id, jsonText(object[put.time]), jsonText(object[put.value]))
	})
	if err != nil {
		return nil, err
	}
	return put.end()
}

// eachObject calls do with each line of text that is not blank, or with each object of an array, and its line.
func (t *Table) eachObject(text *capcli.LineReader, do func(object []byte, n int) error) error {
	if head := bytes.TrimLeft(bytes.TrimPrefix(text.Head(1024), []byte("\ufeff")), " \t\r\n"); len(head) == 0 || head[0] != '[' {
		return t.eachLine(text, do)
	}
	in := capcli.NewObjectReader(text, "", 1)
	for {
		more, err := in.Next()
		var bad *capcli.InputError
		switch {
		case errors.As(err, &bad):
			return t.fault(bad.Line, "", bad.Text, "write an array of objects: [{…}, {…}]")
		case err != nil:
			return t.readError(text.Line(), err)
		case !more && in.Ended != "":
			return t.fault(0, "", in.Ended, "check the copy")
		case !more:
			return nil
		}
		if err := do(in.Raw, in.Line); err != nil {
			return err
		}
	}
}

// jsonText returns a JSON scalar as the text of a cell: the content of a string, else the
// value as it is written.
func jsonText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
