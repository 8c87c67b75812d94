package tables

import (
	"capcli/cmd/report"
	"capcli/cmd/schema"
)

// SchemaDoc lists the documents that have a schema.
func SchemaDoc() report.Doc {
	t := report.Table{Name: "documents", Columns: []report.Column{{Name: "name"}, {Name: "id", Priority: 1}, {Name: "doc", Head: "what it is"}}}
	for _, d := range schema.Documents.All() {
		t.Rows = append(t.Rows, []any{d.Name, d.Value.ID, d.Doc})
	}
	return report.Doc{Title: "Documents with a schema", Tables: []report.Table{t}}
}
