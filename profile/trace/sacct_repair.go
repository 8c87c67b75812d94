package trace

import (
	"bytes"
	"strings"
)

// sacctText are the fields in which a user may have written the separator.
var sacctText = []string{"JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Extra"}

// mostMended bounds the pieces that are put together again in one row.
const mostMended = 64

// mend puts a row together again that a separator inside its free text cut
// into too many pieces: the surplus is given to one such field, or split over
// two, so that all fields around them read as what they are; later fields are
// tried first, for they disturb fewer. False leaves the row as it was.
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

// glue joins n further pieces to field a and m to the later field b, and looks
// whether the row then makes sense.
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

// isSensible tells whether the fields that are not text look like what their
// names say.
func (s *sacct) isSensible() bool {
	c, cell := &s.c, s.t.cell
	for _, col := range []int{c.submit, c.start, c.end} {
		if _, bad := s.clock.read(trim(blankIfUnknown(cell(col)))); bad != flawless && bad != noZone && bad != gapHour {
			return false
		}
	}
	if v := trim(cell(c.elapsedRaw)); len(v) > 0 {
		if _, ok := digits(v); !ok {
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
