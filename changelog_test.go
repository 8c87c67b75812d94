package capcli

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestChangelog holds the shape of CHANGELOG.md (https://keepachangelog.com): a section for each release, the
// newest first, with a semantic version and a date, after what is unreleased; each entry begins with its kind.
func TestChangelog(t *testing.T) {
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	if wrong := changelogFaults(string(text)); len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
}

var (
	releaseLine = regexp.MustCompile(`^## ((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?) - (\d{4}-\d{2}-\d{2})$`)
	entryLine   = regexp.MustCompile(`^\* \[(FEATURE|CHANGE|BUGFIX|PERF|SECURITY)\] \S`)
)

// changelogFaults says what is wrong in the shape of a changelog.
func changelogFaults(text string) []string {
	var wrong []string
	sections, entries, last := 0, 0, "9999-99-99"
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		fault := func(what string) { wrong = append(wrong, "line "+strconv.Itoa(i+1)+": "+what+": "+line) }
		m := releaseLine.FindStringSubmatch(line)
		switch {
		case i == 0 && line != "# Changelog":
			fault("want # Changelog")
		case line == "## Unreleased" && sections == 0, m != nil && m[2] <= last:
			if m != nil {
				last = m[2]
			}
			sections++
		case strings.HasPrefix(line, "## "):
			fault("want ## Unreleased first, then ## 1.2.3 - 2027-01-31, the newest first")
		case strings.HasPrefix(line, "* ") && entryLine.MatchString(line) && sections > 0:
			entries++
		case strings.HasPrefix(line, "* "), strings.HasPrefix(line, "- "):
			fault("an entry begins with its kind")
		case line != "" && sections > 0 && !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "#"):
			fault("not indented under an entry")
		}
	}
	if sections == 0 || entries == 0 {
		wrong = append(wrong, "no section or no entry")
	}
	return wrong
}

func TestChangelogSeesFaults(t *testing.T) {
	const good = "# Changelog\n\n## Unreleased\n\n* [FEATURE] x: y\n  z\n\n## 1.2.0 - 2027-02-01\n\n* [BUGFIX] a\n\n## 1.1.0 - 2027-01-01\n\n* [BUGFIX] b\n"
	if wrong := changelogFaults(good); len(wrong) > 0 {
		t.Errorf("a good one: %q", wrong)
	}
	for _, r := range [][2]string{{"1.2.0", "1.2"}, {"2027-02-01", "2026-02-01"}, {"[BUGFIX] a", "a"}, {"## Unreleased", "## Soon"}, {"  z", "z"}, {"# Changelog", "# Changes"}} {
		if wrong := changelogFaults(strings.Replace(good, r[0], r[1], 1)); len(wrong) == 0 {
			t.Errorf("%q for %q is taken", r[1], r[0])
		}
	}
}
