package scenarios

import (
	"regexp"
	"strings"
	"testing"
)

func TestTemplateIsValidAndSaysEveryField(t *testing.T) {
	if _, err := Parse("template.yaml", []byte(Template())); err != nil {
		t.Error(err)
	}
	for _, s := range Schema() {
		if s.Name == "limits" {
			continue // the metrics are listed by the command
		}
		for _, f := range s.Fields {
			if !regexp.MustCompile(`\b` + f.Name + `\b`).MatchString(Template()) {
				t.Errorf("the template does not say %s of %s", f.Name, s.Name)
			}
			if f.Doc == "" {
				t.Errorf("%s.%s has no line about it", s.Name, f.Name)
			}
		}
	}
}

// With every # of an optional field taken away, each by itself, the file must
// stay a scenario, or say only that two fields exclude each other.
func TestTemplateFieldsAreRight(t *testing.T) {
	lines := strings.Split(Template(), "\n")
	field := regexp.MustCompile(`^( *)#([a-z_]+:|- \{)`)
	tried := 0
	for i, l := range lines {
		if !field.MatchString(l) || strings.HasPrefix(l, "#jobs:") || strings.HasPrefix(l, "#policy:") || strings.HasPrefix(l, "#preemption:") {
			continue
		}
		changed := append([]string(nil), lines...)
		changed[i] = strings.Replace(l, "#", "", 1)
		if strings.HasSuffix(l, ",") { // goes on in the next line
			changed[i+1] = strings.Replace(lines[i+1], "#", "", 1)
		}
		tried++
		_, err := Parse("template.yaml", []byte(strings.Join(changed, "\n")))
		if err != nil && !strings.Contains(err.Error(), "leave one out") {
			t.Errorf("line %d: %v", i+1, err)
		}
	}
	if tried < 20 {
		t.Errorf("tried %d fields, want all", tried)
	}
}
