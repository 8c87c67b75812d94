package store

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The page about the files has each column as it is.
func TestColumnsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/profile-files.md")
	if err != nil {
		t.Fatal(err)
	}
	text, table := string(page), ""
	for _, c := range Columns() {
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
