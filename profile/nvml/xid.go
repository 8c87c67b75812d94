package nvml

import "fmt"

// xids are the meanings of the more common Xid errors, after NVIDIA's "XID errors" page.
var xids = map[uint64]string{
	8:   "a program ran into the GPU's time limit",
	13:  "a program made the graphics engine fail",
	31:  "a program touched memory that it does not have",
	32:  "a corrupted command buffer",
	43:  "a program's work was stopped",
	45:  "a program's work was cut off",
	48:  "memory error that was not corrected",
	61:  "the GPU's microcontroller halted",
	62:  "the GPU's microcontroller halted",
	63:  "a memory page or row was retired",
	64:  "a memory page or row could not be retired",
	74:  "an NVLink failed",
	79:  "the GPU fell off the bus",
	92:  "many corrected memory errors",
	94:  "memory error, contained to its program",
	95:  "memory error that may have touched other programs",
	119: "the GPU's firmware (GSP) did not answer",
	120: "the GPU's firmware (GSP) failed",
	140: "memory error in the GPU's own data",
}

func xidText(n uint64) string {
	if text, ok := xids[n]; ok {
		return fmt.Sprintf("Xid %d: %s", n, text)
	}
	return fmt.Sprintf("Xid %d", n)
}
