package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

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

// FillLists returns v with an empty slice in place of each nil one, so that its JSON has a list where its
// schema promises one. A field tagged schema:"nullable" stays. What v points to is changed in place; the
// insides of types that write their own JSON stay as they are where fields are not exported.
func FillLists(v any) any {
	if v == nil {
		return nil
	}
	in := reflect.ValueOf(v)
	if in.Kind() == reflect.Pointer {
		fillLists(in)
		return v
	}
	at := reflect.New(in.Type()).Elem()
	at.Set(in)
	fillLists(at)
	return at.Interface()
}

// fillLists fills v, whose fields can be set.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			v.Set(reflect.ValueOf(FillLists(v.Interface())))
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		fillElements(v)
	case reflect.Array:
		fillElements(v)
	case reflect.Map:
		fillMap(v)
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			if f := t.Field(i); (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && f.Tag.Get("schema") != "nullable" {
				fillLists(v.Field(i))
			}
		}
	default: // plain values hold no lists
	}
}

// fillElements fills the elements of a list, unless they are plain values.
func fillElements(v reflect.Value) {
	if !holdsLists(v.Type().Elem()) {
		return
	}
	for i := range v.Len() {
		fillLists(v.Index(i))
	}
}

// fillMap fills the values of a map. They cannot be set, so each is replaced by a filled copy.
func fillMap(v reflect.Value) {
	if !holdsLists(v.Type().Elem()) {
		return
	}
	for _, key := range v.MapKeys() {
		at := reflect.New(v.Type().Elem()).Elem()
		at.Set(v.MapIndex(key))
		fillLists(at)
		v.SetMapIndex(key, at)
	}
}

// holdsLists reports whether a value of type t may have a slice in it.
func holdsLists(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct, reflect.Pointer, reflect.Interface:
		return true
	default:
		return false
	}
}

// Failure is the document capcli/error/v1: why a command failed.
type Failure struct {
	Schema string  `json:"schema"`
	Error  Problem `json:"error"`
}

// Problem is an error of a command.
type Problem struct {
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`  // how to mend it
	File  string `json:"file,omitempty"`  // input with the fault
	Line  int    `json:"line,omitempty"`  // from 1
	Field string `json:"field,omitempty"` // such as capacity[0].gpus
	Exit  int    `json:"exit"`            // exit code of the program
}

// Progress is the document capcli/progress/v1: how far a command is.
type Progress struct {
	Schema  string  `json:"schema"`
	Unit    string  `json:"unit"` // what is counted, such as runs
	Done    int64   `json:"done"`
	Total   *int64  `json:"total"` // null where it is unknown
	AtMost  bool    `json:"total_is_at_most,omitempty"`
	Elapsed float64 `json:"elapsed_s"` // seconds
}

// TableDocument is the document capcli/tables/v1: a result that has no document of its own.
type TableDocument struct {
	Schema string      `json:"schema"`
	Tables []TableRows `json:"tables"`
}

// TableRows are the rows of a table as JSON objects, with the table's columns as members.
type TableRows struct {
	Name string            `json:"name"`
	Rows []json.RawMessage `json:"rows"`
}
