package cmd

import "github.com/spf13/cobra"

func newDemo() *cobra.Command      { return &cobra.Command{Use: "demo"} }
func newDemoAgent() *cobra.Command { return &cobra.Command{Use: "demo-agent"} }
