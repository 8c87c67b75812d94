package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"
)

// All that it takes to add an output form: this init and the function that it names, in
// one file. The batteries find it in the catalogue, and -o offers what the catalogue has.
func init() {
	Forms.Add("records", "made up: each row as lines of column: value", writeRecords)
}

func writeRecords(w io.Writer, d Doc, o Options) error {
	t, err := d.One(o)
	if err != nil {
		return err
	}
	g, err := t.grid()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, row := range g.rows {
		for i, cell := range row {
			fmt.Fprintf(&b, "%s: %s\n", g.head[i], cell)
		}
		b.WriteByte('\n')
	}
	_, err = b.WriteTo(w)
	return err
}

func TestAFormIsItsOwnFile(t *testing.T) {
	if !slices.Contains(Forms.Names(), "records") {
		t.Fatalf("forms %v", Forms.Names())
	}
	form, err := Forms.Get("records")
	if err != nil {
		t.Fatal(err)
	}
	d := Doc{Tables: []Table{{Name: "runs", Columns: []Column{{Name: "plan", Head: "PLAN"}, {Name: "gpus", Head: "GPUS"}}, Rows: [][]any{{"a", 8}, {"b", 16}}}}}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{}, "PLAN: a\nGPUS: 8\n\nPLAN: b\nGPUS: 16\n\n"},
		{Options{Columns: []string{"gpus"}}, "GPUS: 8\n\nGPUS: 16\n\n"},
	} {
		var out bytes.Buffer
		if err := form(&out, d, tt.o); err != nil || out.String() != tt.want {
			t.Errorf("%+v: %q and %v, want %q", tt.o, out.String(), err, tt.want)
		}
	}
}
