package report

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// mostHeld notes the most bytes that came in one write.
type mostHeld struct {
	bytes.Buffer
	most int
}

func (w *mostHeld) Write(p []byte) (int, error) {
	w.most = max(w.most, len(p))
	return w.Buffer.Write(p)
}

// TestRowsAsTheyCome: a table whose rows come one by one is written as that which
// holds them, and never held whole.
func TestRowsAsTheyCome(t *testing.T) {
	held := Table{Name: "long", Columns: []Column{{Name: "id"}, {Name: "y"}}}
	for i := range 20_000 {
		held.Rows = append(held.Rows, []any{fmt.Sprintf("s%d", i), float64(i) / 8})
	}
	coming := held
	coming.Rows, coming.Each = nil, slices.Values(held.Rows)
	for _, name := range []string{"csv", "tsv"} {
		form, err := Forms.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		var want, got mostHeld
		if err := form(&want, Doc{Tables: []Table{held}}, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := form(&got, Doc{Tables: []Table{coming}}, Options{}); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%s: rows that come one by one are written otherwise", name)
		}
		if got.most > 4*written {
			t.Errorf("%s: %d bytes were held", name, got.most)
		}
	}
}
