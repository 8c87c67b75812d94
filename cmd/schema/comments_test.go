package schema

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite comments.tsv from the source")

// TestComments holds comments.tsv against the doc comments in the source.
func TestComments(t *testing.T) {
	m := NewMaker("")
	for _, d := range Documents.All() {
		d.Value.Make(m)
	}
	folders := map[string]map[string]string{}
	rows := []string{}
	for _, typ := range m.types {
		folder := strings.TrimPrefix(strings.TrimPrefix(typ.PkgPath(), modulePath()), "/")
		if folders[folder] == nil {
			folders[folder] = commentsIn(t, folder)
		}
		for _, key := range keysOf(typ) {
			if text := folders[folder][key]; text != "" {
				rows = append(rows, key+"\t"+text+"\n")
			}
		}
	}
	slices.Sort(rows)
	want := strings.Join(slices.Compact(rows), "")
	if *update {
		if err := os.WriteFile("comments.tsv", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != commentText {
		t.Error("comments.tsv is not what the source says: go test ./cmd/schema -run TestComments -update")
	}
	if len(rows) < 200 {
		t.Errorf("%d comments found: the test looks at the wrong folder", len(rows))
	}
}

// keysOf returns the keys of a struct's comments, those of the structs that it embeds included.
func keysOf(t reflect.Type) []string {
	keys := []string{commentKey(t, "")}
	for i := range t.NumField() {
		f := t.Field(i)
		keys = append(keys, commentKey(t, f.Name))
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if f.Anonymous && inner.Kind() == reflect.Struct && inner.Name() != "" {
			keys = append(keys, keysOf(inner)...)
		}
	}
	return keys
}

// commentsIn returns the comments of the types in a folder and of their fields, in one line each.
func commentsIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	names, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				typ, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				key := folder + "." + typ.Name.Name
				out[key] = oneLine(typ.Doc, typ.Comment)
				if out[key] == "" && len(g.Specs) == 1 {
					out[key] = oneLine(g.Doc)
				}
				addFieldComments(out, key, typ.Type)
			}
		}
	}
	return out
}

func addFieldComments(out map[string]string, key string, typ ast.Expr) {
	s, ok := typ.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range s.Fields.List {
		for _, id := range f.Names {
			out[key+"."+id.Name] = oneLine(f.Comment, f.Doc)
		}
	}
}

// oneLine returns the first paragraph of the first comment that has text.
func oneLine(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		paragraph, _, _ := strings.Cut(strings.TrimSpace(g.Text()), "\n\n")
		if paragraph != "" {
			return strings.Join(strings.Fields(paragraph), " ")
		}
	}
	return ""
}
