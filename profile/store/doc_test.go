package store

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"capcli/profile/logs/parquet"
)

// The page about the files has each column as it is.
func TestColumnsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/profile-files.md")
	if err != nil {
		t.Fatal(err)
	}
	text, table := string(page), ""
	for _, c := range describeColumns() {
		if c.Table != table {
			table = c.Table
			_, rest, ok := strings.Cut(text, "\n## "+table+"\n")
			if !ok {
				t.Fatalf("no section on %s", table)
			}
			text = rest
		}
		nullable := ""
		if c.Nullable {
			nullable = "nullable"
		}
		row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", c.Name, c.Type, nullable, c.Doc)
		_, rest, ok := strings.Cut(text, row)
		if !ok {
			t.Fatalf("%s: the page lacks %s", table, row)
		}
		text = rest
	}
}

// columnDoc describes one column of a table of the recorded files: its type in SQL
// and what it holds.
type columnDoc struct {
	Table, Name, Type, Doc string
	Nullable               bool
}

// describeColumns describes all columns of all tables, in the order of the files.
func describeColumns() []columnDoc {
	names := map[parquet.Kind]string{
		parquet.Text: "VARCHAR", parquet.Int32: "INTEGER", parquet.Int64: "BIGINT", parquet.Float32: "FLOAT",
		parquet.Float64: "DOUBLE", parquet.Instant: "TIMESTAMP WITH TIME ZONE",
	}
	var docs []columnDoc
	for i := range specs {
		for k, c := range specs[i].columns {
			docs = append(docs, columnDoc{specs[i].name, c.Name, names[c.Kind], specs[i].docs[k], c.Nullable})
		}
	}
	return docs
}
