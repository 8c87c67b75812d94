package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"capcli"
)

func init() {
	Forms.Add("json", "one document with everything; its field schema has the version", writeJSON)
	Forms.Add("jsonl", "one JSON object on each line, one line for each run or row", writeJSONL)
}

// Liner is implemented by the Data of a Doc that consists of several objects. jsonl writes each
// of them on a line.
type Liner interface{ Lines() []any }

func writeJSON(w io.Writer, d Doc, _ Options) error {
	data := d.Data
	if data == nil {
		tables, err := d.jsonTables()
		if err != nil {
			return err
		}
		data = tables
	}
	var buf bytes.Buffer
	if err := capcli.WriteJSON(&buf, FillLists(data)); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err := buf.WriteTo(w)
	return err
}

func writeJSONL(w io.Writer, d Doc, o Options) error {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	var lines []any
	if l, ok := d.Data.(Liner); ok && o.Table == "" && len(o.Columns) == 0 {
		lines = l.Lines()
	} else {
		t, err := d.One(o)
		if err != nil {
			return err
		}
		objects, err := t.objects()
		if err != nil {
			return err
		}
		for _, o := range objects {
			lines = append(lines, o)
		}
	}
	for i, l := range lines {
		if err := e.Encode(FillLists(l)); err != nil {
			return fmt.Errorf("write JSON line %d: %w", i+1, err)
		}
	}
	_, err := buf.WriteTo(w)
	return err
}

// jsonTables returns the JSON document of a Doc without Data: its tables, row by row.
func (d *Doc) jsonTables() (any, error) {
	out := TableDocument{Schema: "capcli/tables/v1", Tables: []TableRows{}}
	for _, t := range d.Tables {
		rows, err := t.objects()
		if err != nil {
			return nil, err
		}
		out.Tables = append(out.Tables, TableRows{t.Name, rows})
	}
	return out, nil
}

// objects returns each row as a JSON object, with the columns in their order.
func (t *Table) objects() ([]json.RawMessage, error) {
	cut, err := t.figures()
	if err != nil {
		return nil, err
	}
	t = &cut
	ranges := t.ranges()
	out := make([]json.RawMessage, 0, len(t.Rows))
	for n, row := range t.Rows {
		var b bytes.Buffer
		for i, cell := range row {
			for j, part := range parts(cell, ranges[i]) {
				value, err := jsonCell(part)
				if err != nil {
					return nil, fmt.Errorf("table %q, row %d, %s: %w", t.Name, n+1, t.Columns[i].Name, err)
				}
				key, err := json.Marshal(t.Columns[i].Name + [...]string{"", "_lo", "_hi"}[j])
				if err != nil {
					return nil, err
				}
				b.WriteByte(',')
				b.Write(key)
				b.WriteByte(':')
				b.Write(value)
			}
		}
		object := b.Bytes()
		if len(object) == 0 {
			object = []byte{','}
		}
		object[0] = '{'
		out = append(out, append(object, '}'))
	}
	return out, nil
}

// jsonCell returns a cell in JSON: null where unknown, money as an exact string.
func jsonCell(v any) ([]byte, error) {
	v = plainValue(v)
	switch x := v.(type) {
	case Range:
		return jsonCell(x.Mid)
	case Money:
		return json.Marshal(x.Exact)
	case float64:
		if !finite(x) {
			return nil, notANumber(x)
		}
	case nil, string, int64, bool, Percent, Ratio, MeanTime, Micros, ShortTime, capcli.USD, capcli.Seconds, capcli.GPUTime, capcli.Time:
	default:
		return nil, fmt.Errorf("no form can write a cell of type %T", v)
	}
	return json.Marshal(v)
}
