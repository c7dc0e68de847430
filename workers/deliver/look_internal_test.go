package deliver

import "time"

// In tests nobody looks again by chance: a signal that is missed is missed.
func init() { look = time.Hour }
