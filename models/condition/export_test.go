package condition

// Forget lets a call spend anew.
func (c *Call) Forget() { c.spent = 0 }
