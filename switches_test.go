package capcli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSwitchesAreDocumented holds that CONTRIBUTING.md names each environment variable of the project, and no other.
func TestSwitchesAreDocumented(t *testing.T) {
	variable := regexp.MustCompile(`\bCAPCLI_[A-Z][A-Z_]*[A-Z]\b`)
	where := map[string]string{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == ".git" || name == "bin" || name == "dist" || name == "node_modules") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || strings.HasSuffix(name, ".md") || !slices.Contains([]string{"", ".go", ".sh", ".yaml", ".service", ".mjs", ".txtar"}, filepath.Ext(name)) && !strings.HasPrefix(name, ".ci") {
			return nil
		}
		text, err := os.ReadFile(name)
		for _, v := range variable.FindAllString(string(text), -1) {
			where[v] = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := variable.FindAllString(string(text), -1)
	for v, name := range where {
		if !slices.Contains(documented, v) {
			t.Errorf("%s: CONTRIBUTING.md does not say what %s is", name, v)
		}
	}
	for _, v := range documented {
		if where[v] == "" {
			t.Errorf("CONTRIBUTING.md names %s, which nothing reads", v)
		}
	}
}
