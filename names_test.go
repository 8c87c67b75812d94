package capcli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// loneWords are prepositions, adverbs, adjectives, pronouns, question words and
// forms of "be" and "have". None of them alone says what a function does or
// returns.
const loneWords = `
	of at to in on by from with without before after since until between among over under
	above below beyond behind inside outside within through across along around against about
	as for into onto upon per via than like off out up down near past
	and or but if so not no yes
	is are was were be been being am has have had do does did can may must shall should will would
	here there then now when where how why what which who whose that this these those it its
	first last next previous own same such other another each every either neither both any all some none
	only just even still yet already ever never always often again once twice together apart alone
	very too enough quite rather almost nearly hardly likewise instead anyway
	more most less least much many few
	whole full empty new old good bad better best worse worst high low higher lower wide long short
	large small larger smaller big early earlier late later soon true false real sure due ready busy idle
	plain known unknown told held kept given done gone seen left right begun taken made said meant
	found lost spent paid bought sold owed worn drawn shown`

// idioms are names that Go's own library gives one meaning, alone.
var idioms = map[string]string{
	"At":    "mat.Matrix: the element at an index",
	"next":  "iter.Pull: the next value and whether there is one",
	"Next":  "sql.Rows: moves to the next row",
	"Now":   "time.Now: the time of a clock",
	"now":   "time.Now: the time of a clock",
	"After": "time.After: a channel that a clock writes to once",
	"All":   "slices.All: an iterator over everything",
	"Less":  "sort.Interface",
	"Has":   "url.Values.Has: whether a set holds a value",
	"has":   "url.Values.Has: whether a set holds a value",
	"With":  "slog.Logger.With: a copy with something added",
}

// loneNames gives the functions of a file whose name is one of the words alone.
func loneNames(file *ast.File, words map[string]bool) []*ast.Ident {
	var found []*ast.Ident
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && words[strings.ToLower(f.Name.Name)] && idioms[f.Name.Name] == "" {
			found = append(found, f.Name)
		}
	}
	return found
}

func loneWordSet() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(loneWords) {
		words[w] = true
	}
	return words
}

func TestFunctionNamesSayWhatTheyDo(t *testing.T) {
	words := loneWordSet()
	set := token.NewFileSet()
	seen := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		for _, id := range loneNames(file, words) {
			t.Errorf("%s: the function %s is called by a word that alone says nothing: name it by a verb phrase or by the noun that it returns", set.Position(id.Pos()), id.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("%d files read: the test looks at the wrong folder", seen)
	}
}

func TestFunctionNamesSeeAPlantedOne(t *testing.T) {
	const text = "package p\nfunc of() {}\nfunc (x T) Whole() {}\nfunc At() {}\nfunc partOf() {}\n"
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := loneNames(file, loneWordSet())
	if len(found) != 2 || found[0].Name != "of" || found[1].Name != "Whole" {
		t.Errorf("found %v, want of and Whole", found)
	}
}
