package trace

import (
	"bytes"
	"strings"
)

// sacctText are the free-text fields, in which a user may have written the separator.
var sacctText = []string{"JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Extra"}

// mostMended is the most surplus pieces of a row that mend joins.
const mostMended = 64

// mend repairs a row that has too many pieces because a free-text field contains the
// separator. It gives the surplus pieces to one such field, or splits them over two, so that
// all other fields are valid. It tries later fields first, because they shift fewer fields.
// It returns false, and leaves the row unchanged, where nothing fits.
func (s *sacct) mend() bool {
	surplus := len(s.t.Row) - len(s.t.names)
	var text []int
	for i := len(s.t.names) - 1; i >= 0; i-- {
		for _, free := range sacctText {
			if strings.EqualFold(s.t.names[i], free) {
				text = append(text, i)
			}
		}
	}
	if surplus > mostMended {
		return false
	}
	pieces := s.t.Row
	for i, a := range text {
		if s.glue(pieces, a, surplus, a, 0) {
			return true
		}
		for _, b := range text[:i] {
			for n := 1; n < surplus; n++ {
				if s.glue(pieces, a, n, b, surplus-n) {
					return true
				}
			}
		}
	}
	s.t.Row = pieces
	return false
}

// glue joins n further pieces to field a and m further pieces to the later field b, sets the
// row, and reports whether it is sensible.
func (s *sacct) glue(pieces [][]byte, a, n, b, m int) bool {
	sep := []byte{s.t.Separator}
	row := make([][]byte, 0, len(s.t.names))
	row = append(row, pieces[:a]...)
	row = append(row, bytes.Join(pieces[a:a+n+1], sep))
	if m == 0 {
		row = append(row, pieces[a+n+1:]...)
	} else {
		row = append(row, pieces[a+n+1:b+n]...)
		row = append(row, bytes.Join(pieces[b+n:b+n+m+1], sep))
		row = append(row, pieces[b+n+m+1:]...)
	}
	s.t.Row = row
	return s.isSensible()
}

// isSensible reports whether the times, the elapsed seconds, the resources and the state of
// the row have their format.
func (s *sacct) isSensible() bool {
	c, cell := &s.c, s.t.cell
	for _, col := range []int{c.submit, c.start, c.end} {
		if _, bad := s.clock.read(trim(blankIfUnknown(cell(col)))); bad != flawless && bad != noZone && bad != gapHour && bad != eitherOrder {
			return false
		}
	}
	if v := trim(cell(c.elapsedRaw)); len(v) > 0 {
		if _, ok := Digits(v); !ok {
			return false
		}
	}
	for _, col := range []int{c.allocTRES, c.reqTRES} {
		if v := trim(cell(col)); len(v) > 0 && bytes.IndexByte(v, '=') < 0 {
			return false
		}
	}
	for _, ch := range stateWord(cell(c.state)) {
		if (ch < 'A' || ch > 'Z') && ch != '_' {
			return false
		}
	}
	return true
}
