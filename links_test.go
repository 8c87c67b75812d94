package capcli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mdLink is a link of a Markdown document: its text and its target.
var mdLink = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)

// TestDocumentLinks holds that each link of the project's documents leads to a file
// that is there. Where the target is Go source and the text is code, `Turn` or
// `simulate.Turn`, that file declares the name.
func TestDocumentLinks(t *testing.T) {
	documents, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, document := range append(documents, more...) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range mdLink.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[2], "://") {
				continue
			}
			links++
			if wrong := brokenLink(filepath.ToSlash(document), m[1], m[2]); wrong != "" {
				t.Errorf("%s: [%s](%s): %s", document, m[1], m[2], wrong)
			}
		}
	}
	t.Logf("%d links", links)
}

// brokenLink says what is wrong with a link of a document in folder; "" is nothing.
func brokenLink(document, text, target string) string {
	place, anchor, _ := strings.Cut(target, "#")
	file := document
	if place != "" {
		file = path.Join(path.Dir(document), place)
	}
	if _, err := os.Stat(filepath.FromSlash(file)); err != nil {
		return "there is no such file"
	}
	if anchor != "" && strings.HasSuffix(file, ".md") && !hasHeading(file, anchor) {
		return "there is no such heading"
	}
	name := strings.Trim(text, "`")
	if name == text || !strings.HasSuffix(file, ".go") {
		return ""
	}
	name = strings.TrimSuffix(name[strings.LastIndex(name, ".")+1:], "()")
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(file), nil, parser.SkipObjectResolution)
	if err != nil {
		return err.Error()
	}
	if !declares(parsed, name) {
		return "the file does not declare " + name
	}
	return ""
}

// headingMark is what an anchor leaves out of its heading.
var headingMark = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// hasHeading reports whether a document has a heading with this anchor, as GitHub makes them.
func hasHeading(file, anchor string) bool {
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			title = headingMark.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), "")
			if strings.ReplaceAll(title, " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}

// declares reports whether a file declares a name at its top level, methods included.
func declares(file *ast.File, name string) bool {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == name {
				return true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.Name == name {
						return true
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						if id.Name == name {
							return true
						}
					}
				}
			}
		}
	}
	return false
}

func TestBrokenLinks(t *testing.T) {
	for _, tt := range []struct{ text, target, want string }{
		{"units", "units.go", ""},
		{"`USD`", "units.go", ""},
		{"`capcli.ParseUSD`", "units.go", ""},
		{"`Turn`", "units.go", "the file does not declare Turn"},
		{"units", "unit.go", "there is no such file"},
		{"commands", "#commands", ""},
		{"commands", "README.md#command", "there is no such heading"},
	} {
		if got := brokenLink("README.md", tt.text, tt.target); got != tt.want {
			t.Errorf("[%s](%s): %q, want %q", tt.text, tt.target, got, tt.want)
		}
	}
}
