package duckdb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The queries of the page about the files run on files.
func TestPageQueries(t *testing.T) {
	page, err := os.ReadFile("../../docs/profile-files.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "gpu-01", 4)
	_, rest, _ := strings.Cut(string(page), "```sql\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no queries")
	}
	db, n := base(t), 0
	for query := range strings.SplitSeq(block, ";") {
		if strings.TrimSpace(query) == "" {
			continue
		}
		n++
		rows, err := db.Query(strings.ReplaceAll(query, "'DIR/", "'"+filepath.ToSlash(dir)+"/"))
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		found := 0
		for rows.Next() {
			found++
		}
		if err := rows.Err(); err != nil || found == 0 {
			t.Errorf("%s: %d rows, %v", query, found, err)
		}
	}
	if n < 2 {
		t.Errorf("%d queries", n)
	}
}
