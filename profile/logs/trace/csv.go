package trace

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli"
)

func init() {
	Formats.Add("csv", "capcli's own columns as CSV (or with tabs or semicolons); --map reads other headers",
		Format{Sniff: sniffCSV, Read: readCSV, Mapped: true, Tagged: true})
}

func sniffCSV(head []byte) bool {
	cols := headColumns(head)
	return cols["submit"] && cols["gpus"] && (cols["run_s"] || cols["start"] && cols["end"]) && !bytes.HasPrefix(head, []byte("{"))
}

func readCSV(r *Reader) error {
	t, err := newTable(r, capcli.Fields{})
	if err != nil {
		return err
	}
	place, err := t.places()
	if err != nil {
		return err
	}
	d := newRecord(r)
	var cells [numColumns][]byte
	for t.nextRow() {
		for i, col := range place {
			if col >= 0 {
				cells[i] = t.Row[col]
			}
		}
		d.tags = t.tags.Row(t.Row)
		more, err := d.keep(t.line, t.rows, t.Raw, &cells)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// places returns the index of each of our columns in the header, -1 for a missing one. It
// fails where a required column, or a column that Options.Map names, is missing.
func (t *table) places() (place [numColumns]int, err error) {
	used := make([]bool, len(t.names))
	for i, ours := range Columns {
		theirs, mapped := t.r.o.Map[ours]
		if !mapped {
			theirs = t.alias(ours)
		}
		place[i] = t.col(theirs)
		if place[i] < 0 && mapped {
			return place, t.r.fault(t.line, "", fmt.Sprintf("the header has no column %q, to which %s is mapped; it has %s", theirs, ours, t.headerText()), "correct --map")
		}
		if place[i] >= 0 {
			used[place[i]] = true
		}
	}
	if err := t.r.checkMap(); err != nil {
		return place, err
	}
	var gone []string
	for _, i := range []int{colSubmit, colGPUs} {
		if place[i] < 0 {
			gone = append(gone, Columns[i])
		}
	}
	if place[colRun] < 0 && (place[colStart] < 0 || place[colEnd] < 0) {
		gone = append(gone, "run_s (or start and end)")
	}
	if gone != nil {
		return place, t.r.fault(t.line, "", fmt.Sprintf("the header lacks %s; it has %s", strings.Join(gone, ", "), t.headerText()),
			"name the columns with --map, such as --map submit=created_at,gpus=num_gpus")
	}
	if err := t.findTags(used); err != nil {
		return place, err
	}
	t.noteUnknown(used)
	return place, nil
}

// aliases are short names of our columns that logs use.
var aliases = map[string]string{"job_id": "job", "limit_s": "limit"}

// alias returns the name of our column in the header: its own, or a short one if the options allow
// that.
func (t *table) alias(ours string) string {
	short := aliases[ours]
	if !t.r.o.Aliases || short == "" || t.col(ours) >= 0 || t.col(short) < 0 {
		return ours
	}
	t.r.Note(fmt.Sprintf("column %s read as %s", short, ours))
	return short
}

// checkMap returns an error if a name in Options.Map is not one of Columns.
func (r *Reader) checkMap() error {
	wrong := slices.DeleteFunc(slices.Sorted(maps.Keys(r.o.Map)), func(ours string) bool { return slices.Contains(Columns, ours) })
	if len(wrong) == 0 {
		return nil
	}
	return r.fault(0, "", fmt.Sprintf("--map names no column of ours: %s", strings.Join(wrong, ", ")),
		"our columns are "+strings.Join(Columns, ", "))
}

// noteUnknown adds a note that lists the columns that are not used.
func (t *table) noteUnknown(used []bool) {
	var unknown []string
	for i, n := range t.names {
		if !used[i] && n != "" {
			unknown = append(unknown, n)
		}
	}
	if unknown != nil {
		t.r.Note("columns not read: " + strings.Join(unknown, ", "))
	}
}
