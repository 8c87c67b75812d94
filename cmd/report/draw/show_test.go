package draw

import (
	"bytes"
	"os"
	"testing"

	"capcli/scenarios/paper/figure/figuretest"
)

func TestShow(t *testing.T) {
	dir := os.Getenv("SHOW")
	if dir == "" {
		t.Skip()
	}
	for _, f := range figuretest.Samples() {
		var b bytes.Buffer
		if err := PNG(&b, &f, Options{Scale: 1}); err != nil {
			t.Error(err)
		}
		os.WriteFile(dir+"/"+f.ID+".png", b.Bytes(), 0o644)
		b.Reset()
		if err := SVG(&b, &f, Options{}); err != nil {
			t.Error(err)
		}
		os.WriteFile(dir+"/"+f.ID+".svg", b.Bytes(), 0o644)
	}
}
